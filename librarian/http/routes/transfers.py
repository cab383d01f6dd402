"""Whole namespaces, downloaded and uploaded."""

import asyncio
import contextlib
import tempfile
from collections.abc import AsyncIterator
from typing import Any, BinaryIO
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response

from graph.errors import LeaseHeld
from librarian.base.errors import Conflict, InvalidExport, NotFound
from librarian.http.endpoints import Body, Call, Endpoint
from librarian.http.requests import NDJSON
from librarian.http.responses import json_response, stream_response
from librarian.transfer.contracts import ExportNamespaceQuery, ImportNamespaceQuery, ImportReport

EXACT_HEADER = "Librarian-Export-Exact"
_CHUNK_BYTES = 256 * 1024


async def export_namespace(call: Call[None, ExportNamespaceQuery]) -> Response:
    """Download all contents of a namespace.

    The body has the format of `librarian export`: a header, one line per entry, and a footer that reveals a truncated
    download. It represents one moment; `Librarian-Export-Exact: false` means that something changed each time it was
    read.
    """
    with contextlib.ExitStack() as stack:
        # Complete before its first byte is sent, so that a failure is an error and not a truncated file.
        made = stack.enter_context(tempfile.TemporaryFile())
        report = await call.librarian.transfer.export_into(
            made, [call.namespace], vectors=call.query.vectors, on_progress=lambda *_: call.progressed(None)
        )
        kept = stack.pop_all()
    headers = {
        "Content-Length": str(report.bytes),
        "Content-Disposition": f"attachment; filename*=UTF-8''{quote(call.namespace, safe='')}.jsonl",
        EXACT_HEADER: str(report.exact).lower(),
    }
    return stream_response(_chunks(made, kept, call), media_type=NDJSON[0], headers=headers)


async def import_namespace(call: Call[AsyncIterator[bytes], ImportNamespaceQuery]) -> Response:
    """Upload a file of `librarian export` into this namespace, whatever its original name.

    The whole body, gzipped or not, is checked before anything is written. `existing` decides about a namespace that is
    not empty (409 by default). An interrupted import resumes with the same body.
    """
    with tempfile.TemporaryFile() as kept:
        async for chunk in call.body:
            await asyncio.to_thread(kept.write, chunk)
            call.progressed(None)
        report = await call.librarian.transfer.import_from(
            kept,
            call.namespace,
            existing=call.query.existing,
            even_if_forgotten=call.query.even_if_forgotten,
            on_progress=lambda *_: call.progressed(None),
        )
    return json_response(report)


async def _chunks(
    made: BinaryIO, kept: contextlib.ExitStack, call: Call[None, ExportNamespaceQuery]
) -> AsyncIterator[bytes]:
    with kept:
        made.seek(0)
        while chunk := await asyncio.to_thread(made.read, _CHUNK_BYTES):
            yield chunk
            call.progressed(None)


async def _stream(request: Request) -> AsyncIterator[bytes]:
    """Yield the body as it arrives."""
    return request.stream()


TRANSFERS: tuple[Endpoint[Any, Any], ...] = (
    Endpoint(
        method="GET",
        path="/v1/namespaces/{namespace}/export",
        handler=export_namespace,
        scope="admin",
        query=ExportNamespaceQuery,
        answers={200: None},
        media=NDJSON[0],
        errors=(NotFound,),
    ),
    Endpoint(
        method="POST",
        path="/v1/namespaces/{namespace}/import",
        handler=import_namespace,
        scope="admin",
        body=Body(bytes, (NDJSON[0], "application/gzip", "application/octet-stream"), _stream),
        query=ImportNamespaceQuery,
        answers={200: ImportReport},
        errors=(InvalidExport, Conflict, LeaseHeld),
    ),
)
