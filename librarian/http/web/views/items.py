"""One item: contents, evidence, history and neighbourhood."""

import asyncio
from typing import Annotated, Any

from msgspec import Meta, Struct
from starlette.responses import Response

from librarian.base.strictjson import convert
from librarian.causal.contracts import CausalOutput, NeighbourhoodQuery
from librarian.http.endpoints import Call
from librarian.http.web.forms import Form
from librarian.http.web.render import page
from librarian.items.contracts import EdgeQuery, ItemOut

_MOST_NEIGHBOURS = 40
_MOST_EDGES = 100
_SHOWN_ELSEWHERE = frozenset({"tags", "attributes"})


class ItemPage(Struct, forbid_unknown_fields=True, kw_only=True):
    """Size of the displayed neighbourhood."""

    depth: Annotated[int, Meta(ge=1, le=4)] = 2
    proposed: bool = True


async def show_item(call: Call[Form, ItemPage]) -> Response:
    """Show an item with its evidence, revisions, edges and neighbourhood."""
    uid, namespace, librarian = call.path("uid"), call.namespace, call.librarian
    around = {"uid": uid, "max_depth": call.query.depth, "include_proposed": call.query.proposed}
    item, history, near, edges, beside, rests = await asyncio.gather(
        librarian.get_item(namespace, uid),
        librarian.revisions(namespace, uid),
        librarian.neighbourhood(namespace, convert({**around, "limit": _MOST_NEIGHBOURS}, NeighbourhoodQuery)),
        librarian.list_edges(namespace, convert({"uid": uid, "limit": _MOST_EDGES}, EdgeQuery)),
        librarian.items.surroundings(namespace, uid),
        librarian.impact(namespace, uid),
    )
    return page(
        call.request,
        "item.html",
        item=item,
        tags=item.properties.get("tags", []),
        facts=_facts(item),
        revisions=history.revisions,
        near=near,
        edges=edges,
        beside=beside,
        rests=rests,
        names=_names(near),
        query=call.query,
    )


def _facts(item: ItemOut) -> list[tuple[str, Any]]:
    """Return the non-empty properties to list, followed by the attributes of a fact."""
    own = {name: value for name, value in sorted(item.properties.items()) if name not in _SHOWN_ELSEWHERE}
    listed = [*own.items(), *item.properties.get("attributes", {}).items()]
    return [(name, value) for name, value in listed if value not in (None, "", [], {})]


def _names(near: CausalOutput) -> dict[str, str]:
    """Return the names of the items around, by uid."""
    return {item.uid: item.name for item in (near.item, *near.items)}
