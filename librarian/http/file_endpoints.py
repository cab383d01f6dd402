"""The operations on files."""

from typing import Any

from librarian.contracts.files import (
    FileList,
    FileListQuery,
    FileOut,
    FileSpan,
    FindFileInput,
    FindFileOutput,
    IndexInput,
    IndexReport,
    LocateInput,
    LocateOutput,
    PutFileOutput,
    PutFileQuery,
    SearchTextInput,
    SearchTextOutput,
    SpanQuery,
    StaleList,
    StaleQuery,
)
from librarian.errors import NotFound
from librarian.http.endpoints import Body, Endpoint, json_of
from librarian.http.requests import FILES, file_body
from librarian.http.routes.files import (
    delete_file,
    find_file,
    index_files,
    list_files,
    locate,
    open_file,
    put_file,
    search_text,
    stale_evidence,
)

_FILE = "/v1/files/{path}"

FILE_OPERATIONS: tuple[Endpoint[Any, Any], ...] = (
    Endpoint(
        method="POST",
        path="/v1/files/index",
        handler=index_files,
        scope="admin",
        body=json_of(IndexInput),
        answers={200: IndexReport},
    ),
    Endpoint(
        method="POST",
        path="/v1/files/find",
        handler=find_file,
        scope="read",
        body=json_of(FindFileInput),
        answers={200: FindFileOutput},
    ),
    Endpoint(
        method="POST",
        path="/v1/files/search-text",
        handler=search_text,
        scope="read",
        body=json_of(SearchTextInput),
        answers={200: SearchTextOutput},
    ),
    Endpoint(
        method="POST",
        path="/v1/files/locate",
        handler=locate,
        scope="read",
        body=json_of(LocateInput),
        answers={200: LocateOutput},
    ),
    Endpoint(
        method="GET",
        path="/v1/stale",
        handler=stale_evidence,
        scope="read",
        query=StaleQuery,
        answers={200: StaleList},
    ),
    Endpoint(
        method="GET",
        path="/v1/files",
        handler=list_files,
        scope="read",
        query=FileListQuery,
        answers={200: FileList},
    ),
    Endpoint(
        method="GET",
        path=_FILE,
        handler=open_file,
        scope="read",
        query=SpanQuery,
        answers={200: FileSpan},
        errors=(NotFound,),
    ),
    Endpoint(
        method="PUT",
        path=_FILE,
        handler=put_file,
        scope="write",
        body=Body(bytes, FILES, file_body),
        query=PutFileQuery,
        answers={200: PutFileOutput, 201: PutFileOutput},
        errors=(NotFound,),
    ),
    Endpoint(
        method="DELETE", path=_FILE, handler=delete_file, scope="write", answers={200: FileOut}, errors=(NotFound,)
    ),
)
"""Those with fixed paths first: any text may be a file's path."""
