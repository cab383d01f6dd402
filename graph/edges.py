"""Typed edges: drawn, removed, found. A writer first locks both ends, so that one edge is never drawn twice."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from graph.executor import Executor, Row, Transaction
from graph.types import EdgeType, NewEdge, native

_ACCEPTED = "accepted"
# Both on one pair contradict each other.
_OPPOSITE = {EdgeType.CAUSES: EdgeType.BLOCKS, EdgeType.BLOCKS: EdgeType.CAUSES}


@dataclass(frozen=True, slots=True)
class StoredEdge:
    """One edge; `state` is accepted, proposed or rejected, `properties` holds what the relationship carries."""

    edge_id: str
    source: str
    target: str
    type: str
    state: str
    properties: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True, slots=True)
class EdgeFilter:
    """Which edges to list; None means any. `uid` is either end; RELATES_TO has no direction, so that its `source` and
    `target` match either way round.
    """

    uid: str | None = None
    source: str | None = None
    target: str | None = None
    types: Sequence[str] | None = None
    states: Sequence[str] | None = None
    methods: Sequence[str] | None = None


@dataclass(frozen=True, slots=True)
class Linked:
    """An edge as it stands, and what linking did; `contradicts` says that its opposite is accepted too."""

    edge: StoredEdge
    created: bool
    changed: bool
    contradicts: bool


@dataclass(frozen=True, slots=True)
class ReviewedEdge:
    """An edge as it stands; `done` is false where a human had decided before. `contradicts`: its opposite is accepted
    too.
    """

    edge: StoredEdge
    done: bool
    contradicts: bool = False


async def link(executor: Executor, namespace: str, edge: NewEdge, reviewer: str) -> Linked | Sequence[str]:
    """Make `edge` stand as given, or say which uids do not exist.

    An edge that is there already, accepted, proposed or rejected, keeps its id and what `edge` leaves out; `reviewer`
    is recorded when that changes it.
    """

    async def work(transaction: Transaction) -> Linked | Sequence[str]:
        missing = await _lock(transaction, namespace, edge.source, edge.target)
        return missing or await _link(transaction, namespace, edge, reviewer)

    return await executor.transaction("link", work)


async def review_edge(
    executor: Executor, namespace: str, edge_id: str, *, accept: bool, reviewer: str, reason: str | None
) -> ReviewedEdge | None:
    """Accept or reject an edge that no human has decided about; None where there is none."""

    async def work(transaction: Transaction) -> ReviewedEdge | None:
        which = {"namespace": namespace, "edge_id": edge_id}
        found = stored_edges(await transaction.run("get_edge", which))
        if found:
            await _lock(transaction, namespace, found[0].source, found[0].target)
            found = stored_edges(await transaction.run("get_edge", which))
        if not found:
            return None
        return await _review(transaction, namespace, found[0], accept=accept, reviewer=reviewer, reason=reason)

    return await executor.transaction("review_edge", work)


async def edges_to_review(
    executor: Executor, namespace: str, states: Sequence[str], *, after: str, limit: int
) -> list[StoredEdge]:
    """Up to `limit` edges by edge_id, from behind `after` on, in these states of review: open (proposed), unreviewed
    (in force, though no human has drawn or seen it), accepted or rejected (by a human).
    """
    params = {"namespace": namespace, "states": list(states), "after": after, "limit": limit}
    return stored_edges(await executor.fetch_all("review_edges", params))


def decided(edge: StoredEdge) -> bool:
    """Whether a human has drawn, accepted or rejected the edge."""
    if edge.state != _ACCEPTED:
        return edge.state == "rejected"
    return edge.properties.get("method", "human") == "human" or "reviewed_by" in edge.properties


async def unlink(executor: Executor, namespace: str, edge_id: str) -> StoredEdge | None:
    """Remove the edge, accepted or not, and return it; None where there is none."""

    async def work(transaction: Transaction) -> StoredEdge | None:
        found = stored_edges(await transaction.run("get_edge", {"namespace": namespace, "edge_id": edge_id}))
        return await _remove(transaction, namespace, found[0]) if found else None

    return await executor.transaction("unlink", work)


async def unlink_items(
    executor: Executor, namespace: str, source: str, edge_type: EdgeType, target: str
) -> StoredEdge | None:
    """Remove the accepted edge of a type between two items and return it; None where there is none."""

    async def work(transaction: Transaction) -> StoredEdge | None:
        found = _accepted(await _between(transaction, namespace, source, target), edge_type)
        return await _remove(transaction, namespace, found) if found else None

    return await executor.transaction("unlink", work)


async def get_edge(executor: Executor, namespace: str, edge_id: str) -> StoredEdge | None:
    """The edge, accepted or not; None where there is none."""
    found = stored_edges(await executor.fetch_all("get_edge", {"namespace": namespace, "edge_id": edge_id}))
    return found[0] if found else None


async def list_edges(
    executor: Executor, namespace: str, which: EdgeFilter, *, after: str, limit: int
) -> list[StoredEdge]:
    """Up to `limit` edges by edge_id, from the first one behind `after` on ("" for the first of all)."""
    params = {
        "namespace": namespace,
        "uid": which.uid,
        "source": which.source,
        "target": which.target,
        "types": which.types,
        "states": which.states,
        "methods": which.methods,
        "after": after,
        "limit": limit,
    }
    anchor = which.uid or which.source or which.target
    if anchor is None:
        return stored_edges(await executor.fetch_all("list_edges", params))
    return stored_edges(await executor.fetch_all("list_edges_at", {**params, "anchor": anchor}))


async def _link(transaction: Transaction, namespace: str, edge: NewEdge, reviewer: str) -> Linked:
    between = await _between(transaction, namespace, edge.source, edge.target)
    known = _accepted(between, edge.type) or next((other for other in between if other.type == edge.type), None)
    opposite = _OPPOSITE.get(edge.type)
    contradicts = opposite is not None and _accepted(between, opposite) is not None
    given = {name: value for name, value in edge.properties.items() if value is not None}
    if known and known.state == _ACCEPTED and _holds(known, given):
        return Linked(known, created=False, changed=False, contradicts=contradicts)
    params = {
        "namespace": namespace,
        "source": edge.source,
        "target": edge.target,
        "type": edge.type.value,
        "edge_id": known.edge_id if known else edge.edge_id,
        "properties": given,
        "reviewed_by": reviewer if known else None,
    }
    stored = stored_edges(await transaction.run("put_edge", params))
    return Linked(stored[0], created=known is None, changed=True, contradicts=contradicts)


async def _review(
    transaction: Transaction, namespace: str, edge: StoredEdge, *, accept: bool, reviewer: str, reason: str | None
) -> ReviewedEdge:
    """Decide about an edge whose ends are locked."""
    if decided(edge):
        return ReviewedEdge(edge, done=False)
    common = {"namespace": namespace, "edge_id": edge.edge_id, "reviewed_by": reviewer}
    if not accept:
        rejected = stored_edges(await transaction.run("reject_edge", {**common, "review_reason": reason}))
        return ReviewedEdge(rejected[0], done=True)
    opposite = _OPPOSITE.get(EdgeType(edge.type))
    between = await _between(transaction, namespace, edge.source, edge.target)
    params = {
        **common,
        "source": edge.source,
        "target": edge.target,
        "type": edge.type,
        "properties": {"review_reason": reason},
    }
    accepted = stored_edges(await transaction.run("put_edge", params))
    contradicts = opposite is not None and _accepted(between, opposite) is not None
    return ReviewedEdge(accepted[0], done=True, contradicts=contradicts)


async def _remove(transaction: Transaction, namespace: str, edge: StoredEdge) -> StoredEdge | None:
    """Remove an edge that was found before its ends are locked; None where somebody else was faster."""
    await _lock(transaction, namespace, edge.source, edge.target)
    removed = stored_edges(await transaction.run("delete_edge", {"namespace": namespace, "edge_id": edge.edge_id}))
    return removed[0] if removed else None


async def _lock(transaction: Transaction, namespace: str, *uids: str) -> list[str]:
    """Lock items, in one order for all writers. Returns the uids that do not exist."""
    rows = await transaction.run("lock_items", {"namespace": namespace, "uids": sorted(uids)})
    return sorted(set(uids) - {row["uid"] for row in rows})


async def _between(transaction: Transaction, namespace: str, source: str, target: str) -> list[StoredEdge]:
    params = {"namespace": namespace, "source": source, "target": target}
    return stored_edges(await transaction.run("edges_between", params))


def _accepted(edges: Sequence[StoredEdge], edge_type: EdgeType) -> StoredEdge | None:
    return next((edge for edge in edges if edge.type == edge_type and edge.state == _ACCEPTED), None)


def _holds(edge: StoredEdge, given: Mapping[str, Any]) -> bool:
    return all(edge.properties.get(name) == value for name, value in given.items())


def stored_edges(rows: Sequence[Row]) -> list[StoredEdge]:
    """Rows of statements that return edges, as values."""
    return [
        StoredEdge(
            edge_id=row["properties"]["edge_id"],
            source=row["source"],
            target=row["target"],
            type=row["type"],
            state=row["state"],
            properties=native(row["properties"]),
        )
        for row in rows
    ]
