"""The operations that carry whole namespaces."""

from collections.abc import AsyncIterator
from typing import Any

from starlette.requests import Request

from graph.errors import LeaseHeld
from librarian.contracts.exports import ExportNamespaceQuery, ImportNamespaceQuery, ImportReport
from librarian.errors import Conflict, InvalidExport, NotFound
from librarian.http.endpoints import Body, Endpoint
from librarian.http.requests import NDJSON
from librarian.http.routes.transfers import export_namespace, import_namespace


async def _stream(request: Request) -> AsyncIterator[bytes]:
    """The body as it comes."""
    return request.stream()


TRANSFER_OPERATIONS: tuple[Endpoint[Any, Any], ...] = (
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
