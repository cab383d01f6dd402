"""Typed edges: link, unlink, review and list. Writers lock both ends first, so that no edge is stored twice."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any

from graph.executor import Executor, Row, Transaction
from graph.types import FOREVER, Change, EdgeAction, EdgeType, native

EDGE = "edge"
"""Kind of an edge in the change feed."""
_ACCEPTED = "accepted"
SUPERSEDES = "SUPERSEDES"
"""Type of a proposal that a fact supersedes another: reviewed like an edge, but not an edge."""
# Both on one pair contradict each other.
_OPPOSITE = {EdgeType.CAUSES: EdgeType.BLOCKS, EdgeType.BLOCKS: EdgeType.CAUSES}


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredEdge:
    """An edge; `state` is accepted, proposed or rejected. The defaults are those of one drawn by hand, of which a human
    is certain.
    """

    edge_id: str
    source: str
    target: str
    type: str
    state: str
    confidence: float = 1.0  # 0..1
    method: str = "human"  # rule, llm or human
    source_quote: str | None = field(default=None, repr=False)
    target_quote: str | None = field(default=None, repr=False)
    reason: str | None = field(default=None, repr=False)  # why the two are connected
    run_id: str | None = None
    model: str | None = None
    prompt_version: str | None = None
    reviewed_by: str | None = None
    reviewed_at: datetime | None = None
    review_reason: str | None = field(default=None, repr=False)  # given by the reviewer
    created_at: datetime | None = None


EDGE_PROPERTIES = frozenset(declared.name for declared in fields(StoredEdge)) - {"source", "target", "type", "state"}
"""Properties of the relationship itself; its ends, type and state follow from its position in the graph."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEdge:
    """A typed edge that a human draws; `line` identifies it in the report of an ingest."""

    line: int
    edge_id: str
    source: str
    target: str
    type: EdgeType
    confidence: float
    source_quote: str | None = field(repr=False)
    target_quote: str | None = field(repr=False)
    reason: str | None = field(repr=False)

    def properties(self) -> dict[str, Any]:
        """Return the relationship's properties except its id; None for those the edge leaves open."""
        return {
            "confidence": self.confidence,
            "method": "human",
            "source_quote": self.source_quote,
            "target_quote": self.target_quote,
            "reason": self.reason,
        }


@dataclass(frozen=True, slots=True)
class EdgeFilter:
    """Selects the edges to list; None means any. `uid` is either end; RELATES_TO has no direction, so its `source` and
    `target` match either way.
    """

    uid: str | None = None
    source: str | None = None
    target: str | None = None
    types: Sequence[str] | None = None
    states: Sequence[str] | None = None
    methods: Sequence[str] | None = None


@dataclass(frozen=True, slots=True)
class Linked:
    """The stored edge and the effect of linking; `contradicts`: its opposite is also accepted."""

    edge: StoredEdge
    created: bool
    changed: bool
    contradicts: bool


@dataclass(frozen=True, slots=True)
class ReviewedEdge:
    """The stored edge; `done` is false if a human had already decided. `contradicts`: its opposite is also accepted."""

    edge: StoredEdge
    done: bool
    contradicts: bool = False


async def link(executor: Executor, namespace: str, edge: NewEdge, reviewer: str) -> Linked | Sequence[str]:
    """Store `edge` as accepted, or return the uids that do not exist.

    An existing edge, accepted, proposed or rejected, keeps its id and what `edge` leaves open; `reviewer` is recorded
    if that changes it.
    """

    async def work(transaction: Transaction) -> Linked | Sequence[str]:
        missing = await _lock(transaction, namespace, edge.source, edge.target)
        return missing or await _link(transaction, namespace, edge, reviewer)

    return await executor.transaction("link", work)


async def review_edge(
    executor: Executor,
    namespace: str,
    edge_id: str,
    *,
    accept: bool,
    reviewer: str,
    reason: str | None,
    revise: bool = False,
) -> ReviewedEdge | None:
    """Accept or reject an edge that no human has decided on or, with `revise`, decided otherwise; None if there is no
    such edge.
    """

    async def work(transaction: Transaction) -> ReviewedEdge | None:
        which = {"namespace": namespace, "edge_id": edge_id}
        found = stored_edges(await transaction.run("get_edge", which))
        if found:
            await _lock(transaction, namespace, found[0].source, found[0].target)
            found = stored_edges(await transaction.run("get_edge", which))
        if not found:
            return None
        settled = decided(found[0]) and (not revise or accept == (found[0].state == _ACCEPTED))
        if settled:
            return ReviewedEdge(found[0], done=False)
        return await _review(transaction, namespace, found[0], accept=accept, reviewer=reviewer, reason=reason)

    return await executor.transaction("review_edge", work)


async def edges_to_review(
    executor: Executor,
    namespace: str,
    states: Sequence[str],
    *,
    sorts: Sequence[str],
    because: str = "",
    after: str,
    limit: int,
) -> list[StoredEdge]:
    """Return up to `limit` edges or proposals that a fact supersedes another (of `sorts` edge, supersede), by edge_id
    and starting after `after`, whose reason starts with `because` and whose review has one of these states: open
    (proposed), unreviewed (in force, but neither drawn nor seen by a human), accepted or rejected (by a human).
    """
    params = {
        "namespace": namespace,
        "sorts": list(sorts),
        "states": list(states),
        "because": because,
        "after": after,
        "limit": limit,
        "forever": FOREVER,
    }
    return stored_edges(await executor.fetch_all("review_edges", params))


def decided(edge: StoredEdge) -> bool:
    """Return whether a human has drawn, accepted or rejected the edge."""
    if edge.state != _ACCEPTED:
        return edge.state == "rejected"
    return edge.method == "human" or edge.reviewed_by is not None


async def unlink(executor: Executor, namespace: str, edge_id: str) -> StoredEdge | None:
    """Remove the edge, accepted or not, and return it, or None."""

    async def work(transaction: Transaction) -> StoredEdge | None:
        which = {"namespace": namespace, "edge_id": edge_id}
        found = _only_edges(stored_edges(await transaction.run("get_edge", which)))
        return await _remove(transaction, namespace, found[0]) if found else None

    return await executor.transaction("unlink", work)


async def unlink_items(
    executor: Executor, namespace: str, source: str, edge_type: EdgeType, target: str
) -> StoredEdge | None:
    """Remove the accepted edge of a type between two items and return it, or None."""

    async def work(transaction: Transaction) -> StoredEdge | None:
        found = _accepted(await _between(transaction, namespace, source, target), edge_type)
        return await _remove(transaction, namespace, found) if found else None

    return await executor.transaction("unlink", work)


async def get_edge(executor: Executor, namespace: str, edge_id: str) -> StoredEdge | None:
    """Return the edge, accepted or not, or None."""
    which = {"namespace": namespace, "edge_id": edge_id}
    found = _only_edges(stored_edges(await executor.fetch_all("get_edge", which)))
    return found[0] if found else None


async def list_edges(
    executor: Executor, namespace: str, which: EdgeFilter, *, after: str, limit: int
) -> list[StoredEdge]:
    """Return up to `limit` edges by edge_id, starting after `after` ("" for the first)."""
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
    existing = _accepted(between, edge.type) or next((other for other in between if other.type == edge.type), None)
    opposite = _OPPOSITE.get(edge.type)
    contradicts = opposite is not None and _accepted(between, opposite) is not None
    properties = {name: value for name, value in edge.properties().items() if value is not None}
    held = existing is not None and all(getattr(existing, name) == value for name, value in properties.items())
    if existing and held and existing.state == _ACCEPTED:
        return Linked(existing, created=False, changed=False, contradicts=contradicts)
    params = {
        "namespace": namespace,
        "source": edge.source,
        "target": edge.target,
        "type": edge.type.value,
        "edge_id": existing.edge_id if existing else edge.edge_id,
        "properties": properties,
        "reviewed_by": reviewer if existing else None,
    }
    stored = stored_edges(await transaction.run("put_edge", params))
    if existing is None:
        action: EdgeAction = "added"
    else:
        action = "changed" if existing.state == _ACCEPTED else "accepted"
    report_edges(transaction, namespace, action, stored)
    return Linked(stored[0], created=existing is None, changed=True, contradicts=contradicts)


async def _review(
    transaction: Transaction, namespace: str, edge: StoredEdge, *, accept: bool, reviewer: str, reason: str | None
) -> ReviewedEdge:
    """Record a decision on an edge whose ends are locked."""
    common = {"namespace": namespace, "edge_id": edge.edge_id, "reviewed_by": reviewer}
    if not accept:
        rejected = stored_edges(await transaction.run("reject_edge", {**common, "review_reason": reason}))
        report_edges(transaction, namespace, "rejected", rejected)
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
    report_edges(transaction, namespace, "accepted", accepted)
    contradicts = opposite is not None and _accepted(between, opposite) is not None
    return ReviewedEdge(accepted[0], done=True, contradicts=contradicts)


async def _remove(transaction: Transaction, namespace: str, edge: StoredEdge) -> StoredEdge | None:
    """Remove an edge that was read before its ends were locked; None if someone else was faster."""
    await _lock(transaction, namespace, edge.source, edge.target)
    removed = stored_edges(await transaction.run("delete_edge", {"namespace": namespace, "edge_id": edge.edge_id}))
    report_edges(transaction, namespace, "deleted", removed)
    return removed[0] if removed else None


async def _lock(transaction: Transaction, namespace: str, *uids: str) -> list[str]:
    """Lock items, in the same order for all writers. Returns the uids that do not exist."""
    rows = await transaction.run("lock_items", {"namespace": namespace, "uids": sorted(uids)})
    return sorted(set(uids) - {row["uid"] for row in rows})


async def _between(transaction: Transaction, namespace: str, source: str, target: str) -> list[StoredEdge]:
    params = {"namespace": namespace, "source": source, "target": target}
    return stored_edges(await transaction.run("edges_between", params))


def _only_edges(found: Sequence[StoredEdge]) -> list[StoredEdge]:
    return [edge for edge in found if edge.type != SUPERSEDES]


def report_edges(transaction: Transaction, namespace: str, action: EdgeAction, edges: Iterable[StoredEdge]) -> None:
    """Report changes of edges to the namespace's change feed."""
    transaction.changed(
        namespace, (Change(action, EDGE, edge.edge_id, edge.type, edge.source, edge.target) for edge in edges)
    )


def _accepted(edges: Sequence[StoredEdge], edge_type: EdgeType) -> StoredEdge | None:
    return next((edge for edge in edges if edge.type == edge_type and edge.state == _ACCEPTED), None)


def stored_edges(rows: Sequence[Row]) -> list[StoredEdge]:
    """Return the edges in the rows of a statement."""
    return [
        StoredEdge(source=row["source"], target=row["target"], type=row["type"], state=row["state"], **_carried(row))
        for row in rows
    ]


def _carried(row: Row) -> dict[str, Any]:
    """Return the relationship's own properties, without those that analysts added."""
    stored = row["properties"]
    return {name: native(stored[name]) for name in EDGE_PROPERTIES if stored.get(name) is not None}


@dataclass(frozen=True, slots=True)
class DrawnEdges:
    """Relationships without an edge_id, counted by `fault`; those without a fault can be adopted."""

    fault: str | None
    count: int
    examples: Sequence[str]


@dataclass(frozen=True, slots=True)
class DrawnEdge:
    """A relationship that can be adopted, in the direction in which it was drawn."""

    namespace: str
    source: str
    target: str
    type: str


@dataclass(frozen=True, slots=True)
class AdoptedEdge:
    """An edge as it will be stored: RELATES_TO runs from the lower to the higher uid."""

    namespace: str
    source: str
    target: str
    type: str
    edge_id: str


async def count_drawn(executor: Executor, namespace: str | None = None) -> list[DrawnEdges]:
    """Count typed relationships without an edge_id by fault; `namespace` None covers all."""
    rows = await executor.fetch_all("count_drawn_edges", {"namespace": namespace})
    return [DrawnEdges(row["fault"], row["edges"], row["examples"]) for row in rows]


async def next_drawn(executor: Executor, namespace: str | None, limit: int) -> list[DrawnEdge]:
    """Return up to `limit` relationships that can be adopted."""
    rows = await executor.fetch_all("adoptable_edges", {"namespace": namespace, "limit": limit})
    return [DrawnEdge(row["namespace"], row["source"], row["target"], row["type"]) for row in rows]


async def adopt(executor: Executor, edges: Sequence[AdoptedEdge]) -> tuple[int, int]:
    """Turn all relationships drawn between the ends of each edge into that edge, in one transaction.

    Their properties are kept where the edge has none. Returns how many edges are new, and how many existed.
    """
    rows = [
        {
            "namespace": edge.namespace,
            "source": edge.source,
            "target": edge.target,
            "type": edge.type,
            "edge_id": edge.edge_id,
        }
        # The same locking order for all writers.
        for edge in sorted(set(edges), key=lambda edge: (edge.namespace, edge.source, edge.target, edge.type))
    ]

    async def work(transaction: Transaction) -> list[Row]:
        adopted = await transaction.run("adopt_edges", {"rows": rows})
        for row in adopted:
            edge = Change(
                "changed" if row["merged"] else "added", EDGE, row["edge_id"], row["type"], row["source"], row["target"]
            )
            transaction.changed(row["namespace"], [edge])
        return adopted

    done = await executor.transaction("adopt_edges", work)
    merged = sum(row["merged"] for row in done)
    return len(done) - merged, merged
