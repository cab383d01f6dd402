"""The candidates of a search with all their ranking data."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from graph.executor import Executor
from graph.search import VectorQuery, pool_rows
from graph.types import ItemFilter, Noise, PoolRow
from retrieval.arms import ArmResults, PlannedQuery
from retrieval.calibration import calibrated_all
from retrieval.fusion import Ranking
from retrieval.linear import Pool
from retrieval.passages import readable
from retrieval.sentences import Passage
from retrieval.signals import Traits, tells_time
from retrieval.text import language
from retrieval.types import GRAPH, VECTOR
from retrieval.whole import WHOLE

_SIMILARITY_DIGITS = 4
"""As many as are shown, so that thresholds judge what is shown."""


class Nearness(NamedTuple):
    """A candidate's cosine (-1..1) and calibrated similarity (0..1) to the nearest query as asked."""

    cosine: float
    similarity: float


@dataclass(frozen=True)
class Pooled:
    """The pool of each query; `judged`: the noise of each encoded query, and its candidates' cosines."""

    pools: Sequence[Pool]
    judged: Sequence[tuple[Noise, Mapping[str, float]]] = ()

    @cached_property
    def near(self) -> Mapping[str, Nearness]:
        """Return the nearness of the candidates that have a vector, each to its nearest query."""
        near: dict[str, Nearness] = {}
        for noise, cosines in self.judged:
            means = calibrated_all(list(cosines.values()), noise)
            for (uid, cosine), mean in zip(cosines.items(), means, strict=True):
                similarity = round(mean, _SIMILARITY_DIGITS)
                if uid not in near or similarity > near[uid].similarity:
                    near[uid] = Nearness(cosine, similarity)
        return near

    def similarity(self, uid: str) -> float | None:
        """Return the calibrated similarity (0..1) of a candidate to its nearest query."""
        near = self.near.get(uid)
        return None if near is None else near.similarity


@dataclass(frozen=True, slots=True)
class _Cosines:
    """The known cosines (uid -> -1..1) of the candidates of query `number` to one of its vectors."""

    number: int
    vector: VectorQuery
    known: dict[str, float]


async def pooled(
    executor: Executor,
    where: ItemFilter,
    queries: Sequence[PlannedQuery],
    answers: Sequence[ArmResults],
    covered: Collection[str] | None = None,
) -> Pooled:
    """Return one pool per query, from one round trip for all: the traits, and the cosines that the vector arm lacks.

    Texts in a language that is not `covered` (None: all are) have no cosine, whatever the encoder made of them.
    """
    to_rank = [
        _Cosines(
            query.number, query.vector, _measured(answers[query.number], 0) | _by_uid(answers[query.number], VECTOR)
        )
        for query in queries
        if query.vector is not None
    ]
    # A query without names was encoded once: the vector arm's cosines also count as similarity.
    to_judge = [
        _Cosines(query.number, query.beside, _measured(answers[query.number], 1))
        for query in queries
        if query.beside is not None
    ]
    rows = await _completed(executor, where, answers, [*to_rank, *to_judge])
    if covered is not None:
        near = {uid for cosines in (*to_rank, *to_judge) for uid in cosines.known}
        unread = {uid for uid in near & rows.keys() if not _reads(rows[uid].text, covered)}
        for cosines in (*to_rank, *to_judge):
            for uid in unread & cosines.known.keys():
                del cosines.known[uid]
    ranked = {cosines.number: cosines.known for cosines in to_rank}
    judged = ranked | {cosines.number: cosines.known for cosines in to_judge}
    return Pooled(
        [
            _pool(query, answer, rows, ranked.get(query.number, {}))
            for query, answer in zip(queries, answers, strict=True)
        ],
        [(query.noise, judged[query.number]) for query in queries if query.noise is not None],
    )


def _reads(text: str, covered: Collection[str]) -> bool:
    """Return whether an encoder of these languages reads a passage of the text; only a long one has several."""
    return language(text) in covered or bool(readable(text, covered)[0])


async def _completed(
    executor: Executor,
    where: ItemFilter,
    answers: Sequence[ArmResults],
    cosines: Sequence[_Cosines],
) -> dict[str, PoolRow]:
    """Return the candidates by uid, and add missing cosines to `cosines`."""
    described = {uid: row for answer in answers for uid, row in answer.rows.items()}
    unknown = _unknown(answers, cosines, described)
    if not unknown:
        return described
    vectors = [entry.vector for entry in cosines]
    rows = await pool_rows(executor, where.namespace, unknown, vectors=vectors, known_at=where.known_at)
    for row in rows:
        for index, cosine in zip(unknown[row.uid], row.cosines, strict=False):
            if cosine is not None:
                cosines[index].known[row.uid] = cosine
    return described | {row.uid: row for row in rows}


def _unknown(
    answers: Sequence[ArmResults], cosines: Sequence[_Cosines], described: Mapping[str, PoolRow]
) -> dict[str, list[int]]:
    """Return the candidates that are not `described`, and those whose query found but did not measure them, each with
    the indexes of the cosines that lack it.
    """
    unknown: dict[str, list[int]] = {
        uid: [] for answer in answers for ranking in answer.rankings for uid in ranking.uids if uid not in described
    }
    for index, entry in enumerate(cosines):
        answer = answers[entry.number]
        own = {uid for ranking in answer.rankings for uid in ranking.uids}
        for uid in own - entry.known.keys() - answer.rows.keys():
            unknown.setdefault(uid, []).append(index)
    return unknown


def _measured(answer: ArmResults, index: int) -> dict[str, float]:
    """Return the cosines that the statement of both arms measured to one of its vectors."""
    return {
        uid: cosine
        for uid, row in answer.rows.items()
        if index < len(row.cosines) and (cosine := row.cosines[index]) is not None
    }


def _pool(query: PlannedQuery, answer: ArmResults, found: Mapping[str, PoolRow], cosines: Mapping[str, float]) -> Pool:
    keyword = _keyword_scores(answer.rankings)
    uids = dict.fromkeys(uid for ranking in answer.rankings for uid in ranking.uids if uid in found)
    when = query.traits.when
    traits = {uid: _traits(found[uid], cosines.get(uid), keyword.get(uid, 0.0), when=when) for uid in uids}
    whole = any(ranking.arm == WHOLE for ranking in answer.rankings)
    return Pool(query.number, answer.rankings, traits, query.traits, whole)


def _traits(row: PoolRow, cosine: float | None, keyword: float, *, when: bool) -> Traits:
    return Traits(
        cosine=cosine,
        keyword=keyword,
        author=row.author,
        conversation=row.conversation,
        session=row.session,
        position=row.position,
        day=None if row.when is None else row.when.date(),
        asks=row.text.endswith(("?", "？")),
        tells_time=when and tells_time(row.text),
        kind=row.kind,
        when=row.when,
        ends=row.ends,
        falls=row.falls,
        attribute=(row.subject.casefold(), row.predicate.casefold()) if row.subject and row.predicate else None,
        sources=row.sources,
        caption=row.caption,
        passage=Passage(" ".join(part for part in (row.name, row.author, row.caption) if part), row.text),
    )


def _by_uid(answer: ArmResults, arm: str) -> dict[str, float]:
    return {
        uid: score
        for ranking in answer.rankings
        if ranking.arm == arm
        for uid, score in zip(ranking.uids, ranking.scores, strict=True)
    }


def _keyword_scores(rankings: Sequence[Ranking]) -> dict[str, float]:
    """Return each candidate's score relative to the best of its index (0..1), never above a better-ranked one: a
    ranking may join two indexes, whose scores are not comparable.
    """
    best: dict[str, float] = {}
    for ranking in rankings:
        if ranking.arm in (VECTOR, GRAPH, WHOLE) or not ranking.scores:
            continue
        bound, top = 1.0, ranking.scores[0] or 1.0
        for uid, score in zip(ranking.uids, ranking.scores, strict=True):
            bound = min(bound, score / top)
            best[uid] = max(bound, best.get(uid, 0.0))
    return best
