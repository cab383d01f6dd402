"""Inconsistencies of a namespace: contradictions and cycles."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby, pairwise

from graph.causal import Brief, items
from graph.cycles import shortest_cycles
from graph.edges import StoredEdge, stored_edges
from graph.executor import Executor
from graph.types import UNKNOWN_TIME, native

# Edges read to look for cycles.
_MAX_LINKS = 50_000


@dataclass(frozen=True, slots=True)
class FactBrief:
    """One side of a contradiction."""

    uid: str
    object: str
    confidence: float | None
    valid_from: datetime | None
    valid_to: datetime
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class FactContradiction:
    """Two facts about one person, of one type and relationship, that name different objects for the same time."""

    person_id: str
    fact_type: str | None
    relationship_type: str
    first: FactBrief
    second: FactBrief


@dataclass(frozen=True, slots=True)
class EdgeContradiction:
    """Edges by which `source` both causes and blocks `target`."""

    source: Brief
    target: Brief
    edges: Sequence[StoredEdge]


@dataclass(frozen=True, slots=True)
class Cycle:
    """A cycle of items: the edge at each index leaves the item at that index."""

    items: Sequence[Brief]
    edges: Sequence[StoredEdge]
    confidence: float


async def contradicting_facts(
    executor: Executor, namespace: str, *, person_id: str | None, as_of: datetime | None, limit: int
) -> tuple[list[FactContradiction], bool]:
    """Return up to `limit` pairs, and whether there may be more; of very many facts of one sort only the latest are
    compared.
    """
    params = {
        "namespace": namespace,
        "person_id": person_id,
        "as_of": as_of,
        "unknown_time": UNKNOWN_TIME,
        "limit": limit + 1,
    }
    rows = await executor.fetch_all("fact_contradictions", params)
    found = [
        FactContradiction(
            row["person_id"],
            row["fact_type"],
            row["relationship_type"],
            FactBrief(**native(row["first"])),
            FactBrief(**native(row["second"])),
        )
        for row in rows[:limit]
    ]
    return found, len(rows) > limit or any(row["cut"] for row in rows)


async def contradicting_edges(
    executor: Executor, namespace: str, *, states: Sequence[str], limit: int
) -> tuple[list[EdgeContradiction], bool]:
    """Return up to `limit` pairs of items where one both causes and blocks the other, and whether there are more."""
    params = {"namespace": namespace, "states": list(states), "limit": limit + 1}
    edges = stored_edges(await executor.fetch_all("edge_contradictions", params))
    pairs = [(ends, list(group)) for ends, group in groupby(edges, key=lambda edge: (edge.source, edge.target))]
    briefs = await items(executor, namespace, sorted({uid for ends, _ in pairs[:limit] for uid in ends}))
    found = [
        EdgeContradiction(briefs[source], briefs[target], between)
        for (source, target), between in pairs[:limit]
        if source in briefs and target in briefs
    ]
    return found, len(pairs) > limit


async def cycles(
    executor: Executor, namespace: str, *, types: Sequence[str], states: Sequence[str], limit: int
) -> tuple[list[Cycle], bool]:
    """Return up to `limit` cycles, one through each item that is on any, and whether there may be more."""
    params = {"namespace": namespace, "types": list(types), "states": list(states), "limit": _MAX_LINKS + 1}
    links = await executor.fetch_all("causal_links", params)
    found, more = shortest_cycles(((row["source"], row["target"]) for row in links[:_MAX_LINKS]), limit)
    steps = {step for cycle in found for step in pairwise([*cycle, cycle[0]])}
    surest = await _surest(executor, namespace, steps, types, states)
    briefs = await items(executor, namespace, sorted({uid for cycle in found for uid in cycle}))
    shown = [
        cycle for cycle in found if briefs.keys() >= set(cycle) and surest.keys() >= set(pairwise([*cycle, cycle[0]]))
    ]
    return [_cycle(cycle, briefs, surest) for cycle in shown], more or len(links) > _MAX_LINKS


async def _surest(
    executor: Executor, namespace: str, steps: set[tuple[str, str]], types: Sequence[str], states: Sequence[str]
) -> dict[tuple[str, str], StoredEdge]:
    """Return the most confident matching edge of each step."""
    rows = [{"source": source, "target": target} for source, target in sorted(steps)]
    edges = stored_edges(await executor.fetch_all("causal_edges", {"namespace": namespace, "rows": rows}))
    fitting = [edge for edge in edges if edge.type in types and edge.state in states]
    return {(edge.source, edge.target): edge for edge in sorted(fitting, key=lambda edge: edge.confidence)}


def _cycle(cycle: Sequence[str], briefs: dict[str, Brief], surest: dict[tuple[str, str], StoredEdge]) -> Cycle:
    edges = [surest[step] for step in pairwise([*cycle, cycle[0]])]
    return Cycle([briefs[uid] for uid in cycle], edges, math.prod(edge.confidence for edge in edges))
