"""The candidates of a search with all that ranking needs to know of them."""

from collections.abc import Mapping, Sequence

from graph.executor import Executor
from graph.search import VectorQuery, pool_rows
from graph.types import PoolRow
from retrieval.arms import ArmResults, PlannedQuery
from retrieval.fusion import Ranking
from retrieval.linear import Pool
from retrieval.signals import TIME_WORDS_PATTERN, Traits
from retrieval.types import VECTOR


async def pools(
    executor: Executor, namespace: str, queries: Sequence[PlannedQuery], answers: Sequence[ArmResults]
) -> list[Pool]:
    """One pool a query, from one round trip for all of them: the traits, and the cosines that the vector arm lacks."""
    cosines = [_by_uid(answer, VECTOR) for answer in answers]
    asking = [query for query in queries if query.vector is not None]
    unscored = _unscored(asking, answers, cosines)
    if not unscored:
        return [Pool(query.number, [], {}, query.asked) for query in queries]
    when = TIME_WORDS_PATTERN if any(query.asked.when for query in queries) else None
    vectors: list[VectorQuery] = [query.vector for query in asking if query.vector is not None]
    rows = await pool_rows(executor, namespace, unscored, vectors=vectors, time_words=when)
    for row in rows:
        for place, cosine in zip(unscored[row.uid], row.cosines, strict=False):
            if cosine is not None:
                cosines[asking[place].number][row.uid] = cosine
    found = {row.uid: row for row in rows}
    return [_pool(query, answer, found, cosines[query.number]) for query, answer in zip(queries, answers, strict=True)]


def best_cosines(pools: Sequence[Pool]) -> dict[str, float]:
    """The best cosine over the queries of each candidate that has one."""
    best: dict[str, float] = {}
    for pool in pools:
        for uid, traits in pool.traits.items():
            if traits.cosine is not None:
                best[uid] = max(traits.cosine, best.get(uid, traits.cosine))
    return best


def _unscored(
    asking: Sequence[PlannedQuery], answers: Sequence[ArmResults], cosines: Sequence[Mapping[str, float]]
) -> dict[str, list[int]]:
    """For every candidate the places of the queries that found it by keyword only."""
    wanted: dict[str, list[int]] = {}
    for answer in answers:
        wanted.update({uid: [] for ranking in answer.rankings for uid in ranking.uids})
    for place, query in enumerate(asking):
        own = {uid for ranking in answers[query.number].rankings for uid in ranking.uids}
        for uid in own - cosines[query.number].keys():
            wanted[uid].append(place)
    return wanted


def _pool(query: PlannedQuery, answer: ArmResults, found: Mapping[str, PoolRow], cosines: Mapping[str, float]) -> Pool:
    keyword = _keyword_scores(answer.rankings)
    uids = dict.fromkeys(uid for ranking in answer.rankings for uid in ranking.uids if uid in found)
    traits = {uid: _traits(found[uid], cosines.get(uid), keyword.get(uid, 0.0)) for uid in uids}
    return Pool(query.number, answer.rankings, traits, query.asked)


def _traits(row: PoolRow, cosine: float | None, keyword: float) -> Traits:
    return Traits(
        cosine=cosine,
        keyword=keyword,
        author=row.author,
        conversation=row.conversation,
        session=row.session,
        position=row.position,
        occurred_at=row.occurred_at,
        asks=row.asks,
        tells_time=row.tells_time,
    )


def _by_uid(answer: ArmResults, arm: str) -> dict[str, float]:
    return {
        uid: score
        for ranking in answer.rankings
        if ranking.arm == arm
        for uid, score in zip(ranking.uids, ranking.scores, strict=True)
    }


def _keyword_scores(rankings: Sequence[Ranking]) -> dict[str, float]:
    """Each candidate's score relative to the best of its index (0..1), never above a better-ranked one: a ranking may
    join two indexes, whose scores do not compare.
    """
    best: dict[str, float] = {}
    for ranking in rankings:
        if ranking.arm == VECTOR or not ranking.scores:
            continue
        bound, top = 1.0, ranking.scores[0] or 1.0
        for uid, score in zip(ranking.uids, ranking.scores, strict=True):
            bound = min(bound, score / top)
            best[uid] = max(bound, best.get(uid, 0.0))
    return best
