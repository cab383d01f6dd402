"""Causes of the best candidates of a question that asks why: accepted edges, followed to their roots."""

import logging
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from graph.errors import DatabaseAuthFailed, DatabaseUnavailable, GraphError
from graph.executor import Executor
from graph.search import causes
from graph.types import ItemFilter
from retrieval.arms import ArmResults, Effort, PlannedQuery
from retrieval.fusion import Fused, Ranking
from retrieval.graph_arm import joined
from retrieval.pool import Pooled, pooled
from retrieval.types import GRAPH

log = logging.getLogger("librarian.retrieval")

SEEDS = 8
CAUSES_AN_EFFECT = 5
STEPS = 8
"""Most edges from an effect to its root cause: each is a round trip."""

Chains = Mapping[str, Sequence[str]]
"""Effect -> everything that led to it, each item after its own causes, so that a root comes first."""


async def with_causes(
    executor: Executor,
    where: ItemFilter,
    queries: Sequence[PlannedQuery],
    fused: Sequence[Fused],
    found: Pooled,
) -> tuple[Pooled, Chains]:
    """Return `found` with what led to the best of `fused`, down to the roots, and those chains.

    Raises DatabaseUnavailable and DatabaseAuthFailed; any other failure leaves `found` unchanged.
    """
    try:
        chains = await _chains(executor, where, [entry.uid for entry in fused[:SEEDS]])
    except (DatabaseUnavailable, DatabaseAuthFailed):
        raise
    except GraphError as error:
        log.warning("causes could not be read: %s", error)
        return found, {}
    roots = list(dict.fromkeys(uid for led in chains.values() for uid in led))
    if not roots:
        return found, {}
    unseen = [
        ArmResults(
            [Ranking(query.number, GRAPH, own := [uid for uid in roots if uid not in pool.traits], [0.0] * len(own))],
            {},
            Effort.FIRST_LOOK,
            complete=True,
        )
        for query, pool in zip(queries, found.pools, strict=True)
    ]
    new = await pooled(executor, where, queries, unseen)
    return joined(found, new), chains


async def _chains(executor: Executor, where: ItemFilter, effects: Sequence[str]) -> dict[str, list[str]]:
    led: defaultdict[str, list[str]] = defaultdict(list)
    seen, frontier = set(effects), list(effects)
    for _ in range(STEPS):
        if not frontier:
            break
        for edge in await causes(executor, where, frontier, limit=CAUSES_AN_EFFECT):
            led[edge.seed].append(edge.uid)
        frontier = [uid for uid in dict.fromkeys(uid for effect in frontier for uid in led[effect]) if uid not in seen]
        seen.update(frontier)
    return {effect: chain for effect in effects if (chain := _from_roots(led, effect))}


def _from_roots(led: Mapping[str, Sequence[str]], effect: str) -> list[str]:
    """Return everything that led to `effect`, each item after its causes; a cycle is entered once."""
    order: list[str] = []
    seen = {effect}

    def visit(uid: str) -> None:
        for cause in led.get(uid, ()):
            if cause not in seen:
                seen.add(cause)
                visit(cause)
                order.append(cause)

    visit(effect)
    return order


def chain_first(ordered: Sequence[Fused], chains: Chains) -> list[Fused]:
    """Return `ordered` (best first) with the chain of the best candidate before all others, from the root to the
    effect.

    If the best belongs to no chain the order stays: something else answers.
    """
    if not ordered:
        return []
    best = ordered[0].uid
    positions = {entry.uid: index for index, entry in enumerate(ordered)}
    around = [effect for effect, led in chains.items() if best in (effect, *led) and effect in positions]
    if not around:
        return list(ordered)
    # The chain of the effect farthest down the list contains those of the others.
    effect = min(around, key=lambda uid: (-len(chains[uid]), positions[uid]))
    chain = [ordered[positions[uid]] for uid in (*chains[effect], effect) if uid in positions]
    top, parts = ordered[0].score, len(chain) + 1
    first = [
        replace(entry, score=top + (1 - top) * (parts - rank) / parts) for rank, entry in enumerate(chain, start=1)
    ]
    moved = {entry.uid for entry in chain}
    return [*first, *(entry for entry in ordered if entry.uid not in moved)]
