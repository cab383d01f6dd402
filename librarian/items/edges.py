"""Typed edges in their wire form."""

from typing import Any, cast

from msgspec import Struct

from graph import edges as graph
from graph.edges import AdoptedEdge, DrawnEdge, EdgeFilter, Linked, StoredEdge, adopt, count_drawn, next_drawn
from graph.executor import Executor
from graph.types import EdgeType
from librarian.base import cursors
from librarian.base.errors import InvalidInput, NotFound
from librarian.items.contracts import EdgeList, EdgeOut, EdgeQuery, LinkInput, LinkOutput, UnlinkInput
from librarian.items.rows import new_edge, stored_ends

_NAMED = "Name it by edge_id, or by source, type and target."
CONTRADICTION = "CAUSES and BLOCKS both hold from this source to this target: a contradiction"
"""The note on two accepted edges that contradict each other."""


async def link(executor: Executor, namespace: str, edge: LinkInput, reviewer: str) -> Linked:
    """Draw the edge, or set an existing one's method to human. Raises InvalidInput, NotFound."""
    done = await graph.link(executor, namespace, new_edge(namespace, edge), reviewer)
    if isinstance(done, Linked):
        return done
    end = "source" if edge.source in done else "target"
    raise NotFound(f"no item of namespace {namespace!r} has the uid of this edge's {end}", field=f"$.{end}")


async def unlink(executor: Executor, namespace: str, which: UnlinkInput) -> EdgeOut:
    """Remove the edge and return it. Raises InvalidInput unless it is named in exactly one way, and NotFound."""
    by_ends = (which.source, which.type, which.target) != (None, None, None)
    if by_ends is (which.edge_id is not None):
        raise InvalidInput("the edge must be named in exactly one way", field="$.edge_id", remedy=_NAMED)
    if which.edge_id is not None:
        return _found(await graph.unlink(executor, namespace, which.edge_id), namespace)
    return _found(await _unlink_items(executor, namespace, which), namespace)


async def get_edge(executor: Executor, namespace: str, edge_id: str) -> EdgeOut:
    """Return the edge, accepted or not. Raises NotFound."""
    return _found(await graph.get_edge(executor, namespace, edge_id), namespace)


async def list_edges(executor: Executor, namespace: str, query: EdgeQuery) -> EdgeList:
    """Return one page of edges, by edge_id. Raises InvalidInput for a cursor of another query."""
    which = EdgeFilter(
        uid=query.uid,
        source=query.source,
        target=query.target,
        types=query.types,
        states=query.states,
        methods=query.methods,
    )
    found = await graph.list_edges(executor, namespace, which, after=_position(namespace, query), limit=query.limit + 1)
    page, cursor = cursors.page(namespace, query, found, query.limit, lambda last: [last.edge_id])
    return EdgeList(edges=[edge_out(edge) for edge in page], next_cursor=cursor)


def link_output(done: Linked) -> LinkOutput:
    """Return the answer to a link, with a note if it contradicts an accepted edge, which humans may do."""
    notes = [CONTRADICTION] if done.contradicts else []
    return LinkOutput(created=done.created, edge=edge_out(done.edge), notes=notes)


def edge_out(edge: StoredEdge) -> EdgeOut:
    """Return `edge` in its wire form."""
    return EdgeOut(**{name: getattr(edge, name) for name in EdgeOut.__struct_fields__})


async def _unlink_items(executor: Executor, namespace: str, which: UnlinkInput) -> StoredEdge | None:
    if which.source is None or which.type is None or which.target is None:
        missing = next(name for name in ("source", "type", "target") if getattr(which, name) is None)
        raise InvalidInput("an edge has a source, a type and a target", field=f"$.{missing}", remedy=_NAMED)
    source, target = stored_ends(which.source, which.type, which.target)
    return await graph.unlink_items(executor, namespace, source, EdgeType(which.type), target)


def _found(edge: StoredEdge | None, namespace: str) -> EdgeOut:
    if edge is None:
        raise NotFound(f"no such edge in namespace {namespace!r}", field="$.edge_id")
    return edge_out(edge)


def _position(namespace: str, query: EdgeQuery) -> str:
    """Return the edge_id after which the page begins."""
    if query.cursor is None:
        return ""
    match cursors.decode(namespace, query, query.cursor):
        case [edge_id]:
            return edge_id
    raise cursors.invalid()


_AT_ONCE = 500


class Adoption(Struct, frozen=True):
    """Result of an adoption; `left` lists the relationships that cannot be adopted, with reasons, one line each."""

    adopted: int
    merged: int
    left: tuple[str, ...]


async def adopt_edges(executor: Executor, namespace: str | None = None) -> Adoption:
    """Complete every typed relationship without an edge_id between two items of one namespace.

    A duplicate of an edge is merged into it. `namespace` None means all. Safe to interrupt and repeat.
    """
    adopted = merged = 0
    while drawn := await next_drawn(executor, namespace, _AT_ONCE):
        new, duplicates = await adopt(executor, [_edge(edge) for edge in drawn])
        adopted, merged = adopted + new, merged + duplicates
        if not new + duplicates:  # others are changing them right now
            break
    left = await count_drawn(executor, namespace)
    return Adoption(
        adopted, merged, tuple(f"{fault.count}: {fault.fault} ({'; '.join(fault.examples)})" for fault in left)
    )


def _edge(drawn: DrawnEdge) -> AdoptedEdge:
    link = LinkInput(source=drawn.source, target=drawn.target, type=cast("Any", drawn.type))
    edge = new_edge(drawn.namespace, link)
    return AdoptedEdge(drawn.namespace, edge.source, edge.target, edge.type.value, edge.edge_id)
