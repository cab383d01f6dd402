"""The endpoints of the HTTP interface: `DOCUMENTED` ones are in the OpenAPI document, `ENDPOINTS` are all of them."""

from collections.abc import Mapping
from typing import Any

from graph.errors import ItemBusy
from librarian.base.errors import PayloadTooLarge
from librarian.http.calls import Handler, endpoint_of, tool_endpoint
from librarian.http.endpoints import Body, Endpoint
from librarian.http.requests import FILES, file_body
from librarian.http.routes.browser_pack import BROWSER_PACK
from librarian.http.routes.docs import documentation_of
from librarian.http.routes.service import healthz, list_tools, namespaces, readyz, show_metrics
from librarian.http.routes.streams import answer, changes, search_agent, sweep, undo_sweep
from librarian.http.routes.transfers import TRANSFERS
from librarian.http.routes.uploads import ingest, post_import, put_file, put_item
from librarian.items.contracts import ImportQuery, IngestReport
from librarian.mcp.contracts import ToolList, ToolQuery
from librarian.mcp.tools import TOOLS
from librarian.operations import OPERATIONS
from librarian.runtime.contracts import Health, Readiness

SPECIAL: Mapping[str, Handler] = {
    "answer": answer,
    "changes": changes,
    "ingest": ingest,
    "namespaces": namespaces,
    "put_file": put_file,
    "put_item": put_item,
    "search_agent": search_agent,
    "sweep": sweep,
    "undo_sweep": undo_sweep,
}
"""Operations with handlers of their own."""

_SERVICE: tuple[Endpoint[Any, Any], ...] = (
    Endpoint(method="GET", path="/healthz", handler=healthz, scope=None, answers={200: Health}),
    Endpoint(method="GET", path="/readyz", handler=readyz, scope=None, answers={200: Readiness, 503: Readiness}),
    Endpoint(method="GET", path="/metrics", handler=show_metrics, scope=None, answers={200: None}),
)
_IMPORT = Endpoint(
    method="POST",
    path="/v1/imports/{format}",
    handler=post_import,
    scope="write",
    body=Body(bytes, FILES, file_body),
    query=ImportQuery,
    answers=dict.fromkeys((200, 207, 422), IngestReport),
    errors=(PayloadTooLarge, ItemBusy),
)
_TOOLS = Endpoint(
    method="GET",
    path="/v1/tools",
    handler=list_tools,
    scope="any",
    namespaced=False,
    query=ToolQuery,
    answers={200: ToolList},
)

DOCUMENTED: tuple[Endpoint[Any, Any], ...] = (
    *_SERVICE,
    *(endpoint_of(row, row.http, SPECIAL.get(row.name)) for row in OPERATIONS if row.http),
    _IMPORT,
    *TRANSFERS,
    _TOOLS,
    *(tool_endpoint(tool) for tool in TOOLS),
)

ENDPOINTS = (*DOCUMENTED, *documentation_of(DOCUMENTED), BROWSER_PACK)
