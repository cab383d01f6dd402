"""Adoption of edges that were drawn by hand: they become edges like those of `link`, by a human."""

from typing import Any, cast

from msgspec import Struct

from graph.adoption import AdoptedEdge, DrawnEdge, adopt, count_drawn, next_drawn
from graph.executor import Executor
from librarian.contracts.items import LinkInput
from librarian.rows import new_edge

_AT_ONCE = 500


class Adoption(Struct, frozen=True):
    """What was done, and what cannot be: `left` says why, one line each."""

    adopted: int
    merged: int
    left: tuple[str, ...]


async def adopt_edges(executor: Executor, namespace: str | None = None) -> Adoption:
    """Complete every typed relationship without an edge_id that has two items of one namespace for ends.

    One that doubles an edge is merged into it. `namespace` None means all. Safe to interrupt and to repeat.
    """
    adopted = merged = 0
    while drawn := await next_drawn(executor, namespace, _AT_ONCE):
        new, known = await adopt(executor, [_edge(one) for one in drawn])
        adopted, merged = adopted + new, merged + known
        if not new + known:  # others change them right now
            break
    left = await count_drawn(executor, namespace)
    return Adoption(adopted, merged, tuple(f"{one.count}: {one.fault} ({'; '.join(one.examples)})" for one in left))


def _edge(drawn: DrawnEdge) -> AdoptedEdge:
    link = LinkInput(source=drawn.source, target=drawn.target, type=cast("Any", drawn.type))
    edge = new_edge(drawn.namespace, link)
    return AdoptedEdge(drawn.namespace, edge.source, edge.target, edge.type.value, edge.edge_id)
