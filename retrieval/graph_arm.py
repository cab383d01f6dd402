"""The third arm: neighbours of the best hits of the other two in the graph.

Neighbours are items that an accepted typed edge or an evidence link joins to one of the first SEEDS items of a query.
They take part in the fusion like the items of the other arms: with their own cosine, and with a score for the quality
of the hit that leads to them. Proposed edges are ignored, and the filters apply to neighbours too.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace

from graph.errors import DatabaseAuthFailed, DatabaseUnavailable, GraphError
from graph.executor import Executor
from graph.search import Neighbour, neighbours
from graph.types import ItemFilter, Noise
from retrieval.arms import OK, ArmResults, Effort, PlannedQuery
from retrieval.fusion import Fused, Ranking
from retrieval.linear import Pool
from retrieval.pool import Pooled, pooled
from retrieval.types import GRAPH

log = logging.getLogger("librarian.retrieval")

# Deeper hits are wrong more often than right, and so are their neighbours (docs/search-quality.md).
SEEDS = 5
NEIGHBOURS_A_SEED = 10


async def with_neighbours(
    executor: Executor,
    where: ItemFilter,
    queries: Sequence[PlannedQuery],
    fused: Sequence[Fused],
    found: Pooled,
) -> tuple[Pooled, str]:
    """Return `found` with the neighbours of each pool's best in `fused`, and the arm's status ("ok" or "failed: …"), in
    two round trips; one if there are none.

    Raises DatabaseUnavailable and DatabaseAuthFailed; any other failure leaves `found` unchanged.
    """
    try:
        return await _joined(executor, where, queries, fused, found), OK
    except (DatabaseUnavailable, DatabaseAuthFailed):
        raise
    except GraphError as error:
        log.warning("the graph arm failed: %s", error)
        return found, f"failed: {error}"


async def _joined(
    executor: Executor, where: ItemFilter, queries: Sequence[PlannedQuery], fused: Sequence[Fused], found: Pooled
) -> Pooled:
    seeds = [seeds_of(pool, fused) for pool in found.pools]
    uids = list(dict.fromkeys(uid for own in seeds for uid in own))
    beside = await neighbours(executor, where, uids, limit=NEIGHBOURS_A_SEED) if uids else []
    if not beside:
        return found
    rankings = [ranked(pool.query, own, beside) for pool, own in zip(found.pools, seeds, strict=True)]
    unseen = [_unseen(pool, ranking) for pool, ranking in zip(found.pools, rankings, strict=True)]
    new = await pooled(executor, where, queries, unseen)
    pools = [_with(*neighbour) for neighbour in zip(found.pools, new.pools, rankings, strict=True)]
    return Pooled(pools, _judged(found, new))


def joined(found: Pooled, new: Pooled) -> Pooled:
    """Return `found` with the candidates of `new`."""
    pools = [
        replace(pool, traits={**pool.traits, **other.traits})
        for pool, other in zip(found.pools, new.pools, strict=True)
    ]
    return Pooled(pools, _judged(found, new))


def _judged(found: Pooled, new: Pooled) -> list[tuple[Noise, Mapping[str, float]]]:
    return [(noise, {**cosines, **more}) for (noise, cosines), (_, more) in zip(found.judged, new.judged, strict=True)]


def ranked(query: int, seeds: Mapping[str, float], beside: Sequence[Neighbour]) -> Ranking:
    """Return the neighbours of `seeds` (uid -> 0..1), best first: each by the best seed and edge that lead to it."""
    best: dict[str, float] = {}
    for neighbour in beside:
        if neighbour.seed in seeds:
            best[neighbour.uid] = max(best.get(neighbour.uid, 0.0), seeds[neighbour.seed] * neighbour.confidence)
    order = sorted(best, key=lambda uid: (-best[uid], uid))
    return Ranking(query, GRAPH, order, [best[uid] for uid in order])


def seeds_of(pool: Pool, fused: Sequence[Fused]) -> dict[str, float]:
    """Return the best items of the query of `pool`, with their scores relative to the first (0..1)."""
    own = [neighbour for neighbour in fused if neighbour.uid in pool.traits][:SEEDS]
    top = own[0].score if own else 0.0
    return {neighbour.uid: neighbour.score / top for neighbour in own if neighbour.score > 0}


def _unseen(pool: Pool, ranking: Ranking) -> ArmResults:
    """Return the neighbours that the other arms did not find, as a result to be completed with traits and cosines."""
    indexes = [index for index, uid in enumerate(ranking.uids) if uid not in pool.traits]
    uids, scores = [ranking.uids[index] for index in indexes], [ranking.scores[index] for index in indexes]
    return ArmResults([Ranking(ranking.query, GRAPH, uids, scores)], {}, Effort.FIRST_LOOK, complete=True)


def _with(pool: Pool, new: Pool, ranking: Ranking) -> Pool:
    traits = {**pool.traits, **new.traits}
    linked = {uid: score for uid, score in zip(ranking.uids, ranking.scores, strict=True) if uid in traits}
    traits |= {uid: replace(traits[uid], linked=score) for uid, score in linked.items()}
    kept = Ranking(ranking.query, GRAPH, list(linked), list(linked.values()))
    return replace(pool, rankings=[*pool.rankings, kept], traits=traits)
