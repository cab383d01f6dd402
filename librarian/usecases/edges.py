"""Typed edges as callers send and see them."""

from typing import Any

from graph import edges as graph
from graph.edges import EdgeFilter, Linked, StoredEdge
from graph.executor import Executor
from graph.types import EdgeType
from librarian import cursors
from librarian.contracts.edges import EdgeList, EdgeOut, EdgeQuery, LinkOutput, UnlinkInput
from librarian.contracts.items import LinkInput
from librarian.errors import InvalidInput, NotFound
from librarian.rows import new_edge, stored_ends

_NAMED = "Name it by edge_id, or by source, type and target."
CONTRADICTION = "CAUSES and BLOCKS both hold from this source to this target: a contradiction"
"""What is said of two accepted edges that do not fit together."""
_OPTIONAL = (
    "reason",
    "source_quote",
    "target_quote",
    "run_id",
    "created_at",
    "reviewed_by",
    "reviewed_at",
    "model",
    "prompt_version",
    "review_reason",
)


async def link(executor: Executor, namespace: str, edge: LinkInput, reviewer: str) -> Linked:
    """Draw the edge, or make the one that is there a human's. Raises InvalidInput, NotFound."""
    done = await graph.link(executor, namespace, new_edge(namespace, edge), reviewer)
    if isinstance(done, Linked):
        return done
    end = "source" if edge.source in done else "target"
    raise NotFound(f"no item of namespace {namespace!r} has the uid of this edge's {end}", field=f"$.{end}")


async def unlink(executor: Executor, namespace: str, which: UnlinkInput) -> EdgeOut:
    """Remove the edge; returns it as it was. Raises InvalidInput unless it is named in exactly one way, NotFound."""
    by_ends = (which.source, which.type, which.target) != (None, None, None)
    if by_ends is (which.edge_id is not None):
        raise InvalidInput("the edge must be named in one way", field="$.edge_id", remedy=_NAMED)
    if which.edge_id is not None:
        return _found(await graph.unlink(executor, namespace, which.edge_id), namespace)
    return _found(await _unlink_items(executor, namespace, which), namespace)


async def get_edge(executor: Executor, namespace: str, edge_id: str) -> EdgeOut:
    """The edge, accepted or not. Raises NotFound."""
    return _found(await graph.get_edge(executor, namespace, edge_id), namespace)


async def list_edges(executor: Executor, namespace: str, query: EdgeQuery) -> EdgeList:
    """One page of edges, by edge_id. Raises InvalidInput for a cursor of another query."""
    which = EdgeFilter(
        uid=query.uid,
        source=query.source,
        target=query.target,
        types=query.types,
        states=query.states,
        methods=query.methods,
    )
    after = _position(query)
    found = await graph.list_edges(executor, namespace, which, after=after, limit=query.limit + 1)
    page = found[: query.limit]
    more = len(found) > len(page)
    return EdgeList(
        edges=[edge_out(edge) for edge in page],
        next_cursor=cursors.encode(query, [page[-1].edge_id]) if more else None,
    )


def link_output(done: Linked) -> LinkOutput:
    """The answer to a link; two accepted edges that contradict each other are a human's right, and worth a word."""
    notes = [CONTRADICTION] if done.contradicts else []
    return LinkOutput(created=done.created, edge=edge_out(done.edge), notes=notes)


def edge_out(edge: StoredEdge) -> EdgeOut:
    """`edge` on the wire. One that says nothing of its origin was drawn by hand: a human is sure of it."""
    fields: dict[str, Any] = {
        "edge_id": edge.edge_id,
        "source": edge.source,
        "target": edge.target,
        "type": edge.type,
        "state": edge.state,
        "method": edge.properties.get("method", "human"),
        "confidence": edge.properties.get("confidence", 1.0),
        **{name: edge.properties.get(name) for name in _OPTIONAL},
    }
    return EdgeOut(**fields)


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


def _position(query: EdgeQuery) -> str:
    """The edge_id behind which the page begins."""
    if query.cursor is None:
        return ""
    match cursors.decode(query, query.cursor):
        case [edge_id]:
            return edge_id
    raise InvalidInput("this is no cursor of a list of edges", field="$.cursor")
