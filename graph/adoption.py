"""Edges that were drawn by hand, such as in Neo4j Browser: found, and made into edges like any other."""

from collections.abc import Sequence
from dataclasses import dataclass

from graph.executor import Executor


@dataclass(frozen=True, slots=True)
class DrawnEdges:
    """So many relationships without an edge_id that have one `fault`; without a fault they can be adopted."""

    fault: str | None
    count: int
    examples: Sequence[str]


@dataclass(frozen=True, slots=True)
class DrawnEdge:
    """One that can be adopted, in the direction in which it was drawn."""

    namespace: str
    source: str
    target: str
    type: str


@dataclass(frozen=True, slots=True)
class AdoptedEdge:
    """One as it shall be stored: RELATES_TO from the lower to the higher uid."""

    namespace: str
    source: str
    target: str
    type: str
    edge_id: str


async def count_drawn(executor: Executor, namespace: str | None = None) -> list[DrawnEdges]:
    """Typed relationships without an edge_id, by fault; `namespace` None looks at all of them."""
    rows = await executor.fetch_all("count_drawn_edges", {"namespace": namespace})
    return [DrawnEdges(row["fault"], row["edges"], row["examples"]) for row in rows]


async def next_drawn(executor: Executor, namespace: str | None, limit: int) -> list[DrawnEdge]:
    """Up to `limit` relationships that can be adopted."""
    rows = await executor.fetch_all("adoptable_edges", {"namespace": namespace, "limit": limit})
    return [DrawnEdge(row["namespace"], row["source"], row["target"], row["type"]) for row in rows]


async def adopt(executor: Executor, edges: Sequence[AdoptedEdge]) -> tuple[int, int]:
    """Make all relationships drawn between the ends of each edge into that edge, in one transaction.

    What they say is kept where the edge says nothing else. Returns how many edges are new, and how many were there
    already.
    """
    rows = [
        {
            "namespace": edge.namespace,
            "source": edge.source,
            "target": edge.target,
            "type": edge.type,
            "edge_id": edge.edge_id,
        }
        # One order of locking for all writers.
        for edge in sorted(set(edges), key=lambda edge: (edge.namespace, edge.source, edge.target, edge.type))
    ]
    done = await executor.write("adopt_edges", {"rows": rows})
    merged = sum(row["merged"] for row in done)
    return len(done) - merged, merged
