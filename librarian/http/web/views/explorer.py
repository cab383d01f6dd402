"""The explorer: the graph around an item, drawn and expanded by its script.

The page contains the graph as data; to expand it, the script requests the page of another item.
"""

import asyncio
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Annotated

import msgspec
from msgspec import Meta, Struct
from starlette.responses import Response

from graph.items import Surroundings
from librarian.base.strictjson import convert
from librarian.causal.contracts import CausalOutput, NeighbourhoodQuery
from librarian.causal.svg import visible
from librarian.http.endpoints import Call
from librarian.http.web.forms import Form
from librarian.http.web.render import link, page, plain
from librarian.items.contracts import ItemOut

_MOST_ITEMS = 100
_TEXT_CHARS = 600


class ExplorerPage(Struct, forbid_unknown_fields=True, kw_only=True):
    """Initial depth of the graph in edges."""

    depth: Annotated[int, Meta(ge=1, le=4)] = 2


class Node(Struct, kw_only=True, omit_defaults=True):
    """An item in the explorer; `text` is the start of its text, `at` and `until` the validity of a fact."""

    id: str
    name: str
    kind: str
    href: str
    type: str | None = None
    at: datetime | None = None
    until: datetime | None = None
    text: str = ""


class Line(Struct, kw_only=True, omit_defaults=True):
    """An edge in the explorer: typed ones, EVIDENCE, and NEXT between turns of a conversation."""

    id: str
    source: str
    target: str
    type: str
    state: str = "accepted"
    confidence: float | None = None
    reason: str | None = None
    source_quote: str | None = None
    target_quote: str | None = None
    href: str | None = None


class Graph(Struct, kw_only=True):
    """Neighbourhood of the item `center`; `more`: a limit cut it off."""

    center: str
    nodes: list[Node]
    edges: list[Line]
    more: bool


async def show_explorer(call: Call[Form, ExplorerPage]) -> Response:
    """Show the graph around an item: typed edges, evidence, dependent items, and its conversation."""
    uid, namespace, librarian = call.path("uid"), call.namespace, call.librarian
    around = {"uid": uid, "max_depth": call.query.depth, "include_proposed": True, "limit": _MOST_ITEMS}
    item, near, beside = await asyncio.gather(
        librarian.get_item(namespace, uid),
        librarian.neighbourhood(namespace, convert(around, NeighbourhoodQuery)),
        librarian.items.surroundings(namespace, uid),
    )
    graph = graph_of(namespace, item, near, beside)
    filled_in(graph, await librarian.items.get_items(namespace, [node.id for node in graph.nodes]))
    data = msgspec.json.encode(graph).decode()
    return page(call.request, "explorer.html", item=item, graph=graph, data=data)


def graph_of(namespace: str, item: ItemOut, near: CausalOutput, beside: Surroundings) -> Graph:
    """Return the graph around `item`, each node once."""
    nodes = {node.id: node for node in reversed([*_typed(namespace, near), *_beside(namespace, item, beside)])}
    edges = [
        Line(
            id=edge.edge_id,
            source=edge.source,
            target=edge.target,
            type=edge.type,
            state=edge.state,
            confidence=edge.confidence,
            reason=edge.reason and visible(edge.reason),
            source_quote=edge.source_quote and visible(edge.source_quote),
            target_quote=edge.target_quote and visible(edge.target_quote),
            href=link(namespace, f"/edges/{edge.edge_id}"),
        )
        for edge in near.edges
    ]
    return Graph(
        center=item.uid, nodes=list(reversed(nodes.values())), edges=[*edges, *_links(item, beside)], more=near.more
    )


def filled_in(graph: Graph, items: Mapping[str, ItemOut]) -> None:
    """Add kind, type, time and text of their items to the nodes."""
    for node in graph.nodes:
        if (item := items.get(node.id)) is not None:
            node.kind, node.type, node.at = item.kind, item.properties.get("type"), item.occurred_at
            node.until = item.properties.get("valid_to")
            node.text = visible(plain(item.text)[:_TEXT_CHARS])


def _typed(namespace: str, near: CausalOutput) -> Iterator[Node]:
    for found in (near.item, *near.items):
        yield Node(
            id=found.uid,
            name=visible(found.name),
            kind=found.kind,
            href=link(namespace, f"/items/{found.uid}"),
        )


def _beside(namespace: str, item: ItemOut, beside: Surroundings) -> Iterator[Node]:
    for source in item.evidence:
        name = source.author_name or source.path or source.uid
        yield Node(
            id=source.uid,
            name=visible(f"{name}: {source.content}"[:60]),
            kind="message" if source.author_name else "file_chunk" if source.path else "item",
            href=link(namespace, f"/items/{source.uid}"),
        )
    for found in beside.cited_by:
        kind = found.role or "item"
        yield Node(id=found.uid, name=visible(found.name), kind=kind, href=link(namespace, f"/items/{found.uid}"))
    for turn in filter(None, (beside.before, beside.after)):
        href = link(namespace, f"/items/{turn.uid}")
        yield Node(id=turn.uid, name=visible(turn.name), kind="message", href=href)


def _links(item: ItemOut, beside: Surroundings) -> Iterator[Line]:
    ends = [(item.uid, source.uid, "EVIDENCE") for source in item.evidence]
    ends += [(found.uid, item.uid, "EVIDENCE") for found in beside.cited_by]
    ends += [(beside.before.uid, item.uid, "NEXT")] if beside.before else []
    ends += [(item.uid, beside.after.uid, "NEXT")] if beside.after else []
    for source, target, type_ in ends:
        yield Line(id=f"{type_} {source} {target}", source=source, target=target, type=type_)
