"""What led to the best candidates of a question that asks why: accepted edges, followed to their roots."""

import logging
from collections import defaultdict
from collections.abc import Mapping, Sequence

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
STEPS = 4
"""Edges from an effect to its root cause at most: each is a round trip."""


async def with_causes(
    executor: Executor,
    where: ItemFilter,
    queries: Sequence[PlannedQuery],
    fused: Sequence[Fused],
    found: Pooled,
) -> tuple[Pooled, Mapping[str, Sequence[str]]]:
    """Return `found` with what led to the best of `fused`, and uid -> causes, roots of the chain included.

    Raises DatabaseUnavailable and DatabaseAuthFailed; any other failure leaves `found` as it was.
    """
    try:
        chain = await _chain(executor, where, [entry.uid for entry in fused[:SEEDS]])
    except (DatabaseUnavailable, DatabaseAuthFailed):
        raise
    except GraphError as error:
        log.warning("causes could not be read: %s", error)
        return found, {}
    roots = list(dict.fromkeys(uid for led in chain.values() for uid in led))
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
    new = await pooled(executor, where.namespace, queries, unseen)
    return joined(found, new), chain


async def _chain(executor: Executor, where: ItemFilter, effects: Sequence[str]) -> dict[str, list[str]]:
    """Effect -> all that led to it, over at most STEPS edges."""
    led: defaultdict[str, list[str]] = defaultdict(list)
    origins = {uid: {uid} for uid in effects}
    for _ in range(STEPS):
        if not origins:
            break
        following: defaultdict[str, set[str]] = defaultdict(set)
        for edge in await causes(executor, where, list(origins), limit=CAUSES_AN_EFFECT):
            for effect in origins[edge.seed]:
                if edge.uid != effect and edge.uid not in led[effect]:
                    led[effect].append(edge.uid)
                    following[edge.uid].add(effect)
        origins = dict(following)
    return {effect: own for effect, own in led.items() if own}
