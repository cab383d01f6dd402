"""Files: index and upload them, find them, search their text, read their lines."""

from starlette.responses import Response

from librarian.contracts.files import (
    FileListQuery,
    FindFileInput,
    IndexInput,
    LocateInput,
    PutFileQuery,
    SearchTextInput,
    SpanQuery,
    StaleQuery,
)
from librarian.http.endpoints import Call
from librarian.http.responses import json_response


async def index_files(call: Call[IndexInput, None]) -> Response:
    """Index a folder of the service's machine.

    Only folders in LIBRARIAN_INDEX_ROOTS, and only what changed since the last time. Files are found by name while
    their contents follow; the answer comes when all are stored.
    """

    def progressed(_done: int, _total: int) -> None:
        call.progressed(None)

    return json_response(await call.librarian.index_allowed(call.namespace, call.body, on_progress=progressed))


async def find_file(call: Call[FindFileInput, None]) -> Response:
    """Find files by what they are called.

    A path or its end, a file name, a stem, or words of these; one typo is forgiven.
    """
    return json_response(await call.librarian.find_file(call.namespace, call.body))


async def search_text(call: Call[SearchTextInput, None]) -> Response:
    """Search the lines of files for an exact text.

    Or for a regular expression of RE2, whose time is linear. Lines that define the name come first.
    """
    return json_response(await call.librarian.search_text(call.namespace, call.body))


async def locate(call: Call[LocateInput, None]) -> Response:
    """Find out where something is in files.

    The shape of the query decides whether paths, lines, definitions or meanings are searched; `why` says it.
    """
    return json_response(await call.librarian.locate(call.namespace, call.body))


async def stale_evidence(call: Call[None, StaleQuery]) -> Response:
    """List evidence in files that does not stand any more.

    Facts and memories may cite lines of files. Lines that moved with their file are followed; those that were changed,
    are gone, or were never found are listed here, by path.
    """
    return json_response(await call.librarian.stale_evidence(call.namespace, call.query))


async def list_files(call: Call[None, FileListQuery]) -> Response:
    """List files by path, page by page."""
    return json_response(await call.librarian.list_files(call.namespace, call.query))


async def open_file(call: Call[None, SpanQuery]) -> Response:
    """Read lines of a file, as they are stored."""
    return json_response(await call.librarian.open_file(call.namespace, call.path("path"), call.query))


async def put_file(call: Call[bytes, PutFileQuery]) -> Response:
    """Upload one file.

    The body is the file itself. The same contents again change nothing.
    """
    put = await call.librarian.put_file(call.namespace, call.path("path"), call.body, call.query.root)
    return json_response(put, status=201 if put.outcome == "added" else 200)


async def delete_file(call: Call[None, None]) -> Response:
    """Delete one file with its parts and all that hangs on them."""
    return json_response(await call.librarian.delete_file(call.namespace, call.path("path")))
