"""Typed edges."""

from starlette.responses import Response

from librarian.contracts.edges import EdgeQuery, UnlinkInput
from librarian.contracts.items import LinkInput
from librarian.http.endpoints import Call
from librarian.http.responses import json_response


async def post_edge(call: Call[LinkInput, None]) -> Response:
    """Draw a typed edge between two items.

    Its method is human from then on, also where a rule or model had drawn or proposed it. 201 when it is new.
    """
    linked = await call.librarian.link(call.namespace, call.body)
    return json_response(linked, status=201 if linked.created else 200)


async def list_edges(call: Call[None, EdgeQuery]) -> Response:
    """List typed edges, proposals and rejections, page by page."""
    return json_response(await call.librarian.list_edges(call.namespace, call.query))


async def get_edge(call: Call[None, None]) -> Response:
    """Get one edge."""
    return json_response(await call.librarian.get_edge(call.namespace, call.path("edge_id")))


async def delete_edge(call: Call[None, None]) -> Response:
    """Remove one edge; the answer is what it was."""
    which = UnlinkInput(edge_id=call.path("edge_id"))
    return json_response(await call.librarian.unlink(call.namespace, which))
