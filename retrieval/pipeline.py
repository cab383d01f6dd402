"""Hybrid search, from queries to deduplicated hits.

normalise -> encode all queries in one batch -> one statement per query, concurrently, more if filters remove too much
-> fuse -> one round trip for the pool's properties, evidence and missing cosines -> deduplicate -> cut; and again,
deeper, if duplicates leave too few hits. Hits that are not similar enough are removed last.
"""

import asyncio
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial

from graph.executor import Executor
from graph.item import Item, loss_of, replaced_by
from graph.search import KeywordQuery, VectorQuery, as_known, hydrate
from graph.types import ItemFilter, Noise
from retrieval.abstention import Near, Remaining, remaining
from retrieval.answering import Judgement, best_of
from retrieval.arms import OK, ArmResults, Depth, Effort, PlannedQuery, run_arms
from retrieval.causes import Chains, chain_first, with_causes
from retrieval.dedupe import deduplicate
from retrieval.encoders.base import Encoder
from retrieval.encoders.errors import EncoderError
from retrieval.fusion import Fused, Ranking, boosted, in_order, reciprocal_rank_fusion, score_max, score_sum
from retrieval.graph_arm import with_neighbours
from retrieval.judging import Judged, judged
from retrieval.linear import Pool, default_weights, linear_fusion
from retrieval.lucene import keyword_query
from retrieval.names import NameBook, authors_named, without_names
from retrieval.pool import Nearness, Pooled, pooled
from retrieval.readings import asks_why, past_asked
from retrieval.signals import query_traits
from retrieval.stopwatch import Stopwatch
from retrieval.text import language, normalise, says_something
from retrieval.thresholds import FixedBound
from retrieval.types import BOTH_ARMS, GRAPH, KEYWORD, VECTOR, Overfetch, ScoredItem, SearchRequest, SearchResult
from retrieval.whole import WHOLE, SmallNamespaces

# Concurrent statements: two to five of them took 32-37 ms where one with five queries took 48-54 ms (2 cores, 100k
# items).
SIDE_BY_SIDE = 4
# Rows per arm for each hit wanted: deep enough that a fused list of 10 keeps what either arm has in its first 50.
ROWS_PER_HIT = 5
MIN_ROWS = 60
# Rows of each index in a deeper look, when filters left too few of the first. Milliseconds of the vector and keyword
# arm, and what they find of 60 wanted, with 50,000 of 100,000 items in the namespace (2 cores):
#   items that pass        .1 %               1 %              10 %
#   960 rows           23 + 13:  3, 1    18 + 11:  4, 13   25 + 16: 60, 60
#   4,000 rows         41 + 19:  5, 4    42 + 20: 34, 35   54 + 26: 60, 60
#   10,000 rows        52 + 33: 13, 10   55 + 36: 60, 60   51 + 32: 60, 60
#   exact scan         82 + 123: all     123 + 161: all    123 + 108: all
# So 4,000 rows cost a quarter of an exact scan, which grows with the namespace while they do not, and fill 10 hits down
# to .3 %. Whole searches took 86, 85 and 250 ms (10, 1 and .1 %), with 10,000 rows 117, 104 and 240 ms.
DEEPER_ROWS = 4_000
# When duplicates displace hits, a search is repeated for this many times as many items.
_DEEPER = 4
# Candidates hydrated at once for each hit wanted: a few more than one, since duplicates are dropped afterwards.
# Fetching properties is a third of a search's time, so more are fetched only when these do not fill the limit.
HYDRATED_PER_HIT = 1.5
LEAST_SUPPORT, LEAST_SUPPORT_UNREAD = 0.4, 0.29
"""Support that the best candidate needs (0..1, retrieval.answering.Judgement) for anything to be found: if the encoder
reads the query, and if only words count. In small worlds the best candidate of an answered question has less in 2 % and
8 % of cases; where nothing is known it has more in 4 of 16 and in none of 8.
"""
LEAST_SUPPORT_BESIDE = 0.25
"""Support that any other hit needs, unless it answers nearly as well as the best: from .3 on right answers in other
words are lost.
"""
NEARLY_BEST = 0.8
"""Share of the best score from which on a candidate needs no other support."""
UNSUPPORTED = 0.5
"""Factor on the score of a candidate that nothing supports any longer: it ranks below what answers about as well, and
above what hardly answers.
"""
NOT_ASKED = "skipped: not asked for"
_EVERYTHING = FixedBound(0.0)
_NOTES = {
    Overfetch.DEEPER: "filling the limit took a deeper look into the indexes",
    Overfetch.EXACT: "filling the limit took an exact scan of the items that pass the filters",
    Overfetch.EXHAUSTED: "fewer different items than the limit of {limit} match: all {hits} of them are here",
}


@dataclass(frozen=True, slots=True)
class VectorArm:
    """The encoder in use, or why there is none; `noise` of each language in which it was found to distinguish texts."""

    encoder: Encoder | None
    noise: Mapping[str, Noise] = field(default_factory=dict)
    off_reason: str = "skipped: no encoder is configured (LIBRARIAN_ENCODER=none)"


@dataclass(frozen=True, slots=True)
class Reach:
    """How far a search looks: rows per index at first (for each hit wanted, and at least), and in a deeper look.

    `whole`: whether a small namespace is also read whole.
    """

    rows_per_hit: int = ROWS_PER_HIT
    min_rows: int = MIN_ROWS
    deeper_rows: int = DEEPER_ROWS
    whole: bool = True

    def depth(self, limit: int, times: int) -> Depth:
        """Return where to stop for `limit` hits, in a search that looks `times` as far."""
        rows = max(self.min_rows, limit * self.rows_per_hit) * times
        return Depth(rows=rows, wanted=limit * times, deeper=max(self.deeper_rows, rows))


class SearchPipeline:
    """Searches one graph with one encoder, each stage timed by a `stopwatch`. Stateless between calls, safe for
    concurrent ones.
    """

    def __init__(
        self,
        executor: Executor,
        vector_arm: VectorArm,
        reach: Reach = Reach(),
        stopwatch: Callable[[], Stopwatch] = Stopwatch,
    ) -> None:
        self._executor = executor
        self._arm = vector_arm
        self._reach = reach
        self._stopwatch = stopwatch
        self._names = NameBook(executor)
        self._small = SmallNamespaces(executor)
        self._slots = asyncio.Semaphore(SIDE_BY_SIDE)

    async def search(self, request: SearchRequest) -> SearchResult:
        """Return hits for `request`, best first: as many as its limit, or all that pass its filters and can be found.

        Raises graph.errors.DatabaseUnavailable if the database does not answer; a single failed arm is reported in
        `arms` instead.
        """
        clock = self._stopwatch()
        request = of_its_time(request)
        with clock.stage("encode"):
            queries = await self.plan(request)
        times = 1
        while True:
            look = await self._look(request, queries, times, clock)
            if len(look.hits) >= request.limit or all(answer.complete for answer in look.answers):
                break
            times *= _DEEPER
        hits = look.hits[: request.limit + request.spare]
        overfetch = _overfetch(look.answers, again=times > 1, filled=len(hits) >= request.limit)
        notes = [] if overfetch is None else [_NOTES[overfetch].format(hits=len(hits), limit=request.limit)]
        if request.bound is not None:
            notes += _unjudged(queries)
        statuses = {**_statuses(look.answers), **look.linked}
        return SearchResult(hits, statuses, notes, overfetch, clock.read_ms(), look.left.threshold, look.left.below)

    async def _look(
        self, request: SearchRequest, queries: Sequence[PlannedQuery], times: int, clock: Stopwatch
    ) -> "_Look":
        """Return the arms' results, the hits built from them, and the graph arm's status, looking `times` as far as at
        first.
        """
        depth = self._reach.depth(request.limit, times)
        linear = request.fusion_method == "linear"
        with clock.stage("arms"):
            whole, answers = await asyncio.gather(
                self._small.items(request.where) if linear and self._reads_whole(request) else _nothing(),
                asyncio.gather(*(self._run(request, query, depth) for query in queries)),
            )
        if whole:
            everything = [Ranking(query.number, WHOLE, whole, [0.0] * len(whole)) for query in queries]
            answers = [
                replace(answer, rankings=[*answer.rankings, ranking])
                for answer, ranking in zip(answers, everything, strict=True)
            ]
        with clock.stage("traits"):
            found = await pooled(self._executor, request.where, queries, answers, self._arm.noise.keys())
        with clock.stage("fuse"):
            fused = _fused(request, found.pools)
        linked: dict[str, str] = {}
        if GRAPH in request.arms:
            with clock.stage("graph"):
                found, linked[GRAPH] = await with_neighbours(self._executor, request.where, queries, fused, found)
                fused = _fused(request, found.pools)
        if _judges(request):
            with clock.stage("judge"):
                judged, found = await self._judge(request, queries, fused, found)
        else:
            judged = Judged(_below(fused, found, request))
        left = self._left(request, queries, judged, found)
        with clock.stage("hydrate"):
            hits = await self._hits(request, left.kept, found.near, judged.judgements)
        return _Look(answers, hits, linked, left)

    def _reads_whole(self, request: SearchRequest) -> bool:
        return self._reach.whole and request.arms >= BOTH_ARMS

    async def _judge(
        self, request: SearchRequest, queries: Sequence[PlannedQuery], fused: Sequence[Fused], found: Pooled
    ) -> tuple[Judged, Pooled]:
        """Return the candidates ordered by how well they answer, with what led to the best if a query asks why."""
        chains: Chains = {}
        if any(asks_why(query.text) for query in queries):
            found, chains = await with_causes(self._executor, request.where, queries, fused, found)
            fused = _fused(request, found.pools)
        texts = [query.text for query in queries]
        result = judged(texts, found.pools, fused, found.similarity, chains, _moment(request))
        ordered = _below(result.fused, found, request)
        return replace(result, fused=chain_first(ordered, chains)), found

    def _left(
        self, request: SearchRequest, queries: Sequence[PlannedQuery], judged: Judged, found: Pooled
    ) -> Remaining:
        """Return the candidates that meet the bound and, unless the caller chose it, have enough support."""
        texts = {uid: traits.passage for pool in found.pools for uid, traits in pool.traits.items()}
        pool = [
            Near(entry, found.similarity(entry.uid), texts[entry.uid]) for entry in judged.fused if entry.uid in texts
        ]
        left = remaining(pool, queries, request.bound, limit=request.limit)
        if not judged.judgements or request.bound == _EVERYTHING:
            return left
        narrow = _is_narrow(request.where)
        backed = narrow or _finds(judged.judgements.values(), queries)
        least = NEARLY_BEST * best_of(judged.judgements.values())
        # Hits judged by the caller's own threshold stay; a hit that it could not judge still needs support.
        chosen = isinstance(request.bound, FixedBound) and left.threshold is not None
        backs = partial(_beside, least=least, unjudged=not chosen)
        return left.only(
            [
                ((chosen and near.exempt is None) or (backed and (narrow or backs(judgement))))
                and not _replaced(judgement)
                for near in left.kept
                for judgement in [judged.judgements.get(near.entry.uid)]
            ]
        )

    async def _run(self, request: SearchRequest, query: PlannedQuery, depth: Depth) -> ArmResults:
        async with self._slots:
            return await run_arms(self._executor, request.where, query, depth)

    async def plan(self, request: SearchRequest) -> list[PlannedQuery]:
        """Return the queries of `request` as the arms run them, with each arm's initial status."""
        texts = [normalise(query) for query in request.queries]
        authors = await self._names.authors(request.where.namespace)
        named = [authors_named(text, authors) for text in texts]
        bare = [without_names(text, own) for text, own in zip(texts, named, strict=True)]
        wanted = VECTOR in request.arms
        reasons = [self._no_vector_reason(text) if wanted else NOT_ASKED for text in texts]
        read = [form for *forms, reason in zip(bare, texts, reasons, strict=True) if reason == OK for form in forms]
        vectors, failure = await self._encode(list(dict.fromkeys(read)))
        planned = []
        for number, (text, reason) in enumerate(zip(texts, reasons, strict=True)):
            own = {} if reason != OK else vectors
            keyword = keyword_query(text) if KEYWORD in request.arms else KeywordQuery()
            planned.append(
                PlannedQuery(
                    number=number,
                    text=text,
                    vector=own.get(bare[number]),
                    as_asked=own.get(text),
                    noise=self._arm.noise[language(text)] if own else None,
                    keyword=keyword,
                    status={
                        VECTOR: failure or reason if reason == OK else reason,
                        KEYWORD: _keyword_status(request, keyword),
                    },
                    traits=query_traits(text, named[number]),
                )
            )
        return planned

    def _no_vector_reason(self, text: str) -> str:
        if self._arm.encoder is None:
            return self._arm.off_reason
        if not says_something(text):
            return "skipped: the query has nothing but punctuation"
        if (spoken := language(text)) not in self._arm.noise:
            return f"skipped: encoder {self._arm.encoder.space.model} does not tell texts in {spoken!r} apart"
        return OK

    async def _encode(self, texts: Sequence[str]) -> tuple[dict[str, VectorQuery], str]:
        """Return the vector of each of `texts`, or none and the reason."""
        encoder = self._arm.encoder
        if encoder is None or not texts:
            return {}, ""
        try:
            vectors = await encoder.encode_query(texts)
        except EncoderError as error:
            return {}, f"failed: {error}"
        space = encoder.space.id
        return {text: VectorQuery(space, vector.tolist()) for text, vector in zip(texts, vectors, strict=True)}, ""

    async def _hits(
        self,
        request: SearchRequest,
        kept: Sequence[Near],
        near_by_uid: Mapping[str, Nearness],
        judgements: Mapping[str, Judgement],
    ) -> list[ScoredItem]:
        """Return hydrated hits without duplicates: at least the limit, if that many different ones were found."""
        hits: list[ScoredItem] = []
        wanted = request.limit + request.spare
        at, step = 0, math.ceil(wanted * HYDRATED_PER_HIT)
        while at < len(kept) and len(hits) < wanted:
            own = kept[at : at + step]
            items = await self._hydrated(request.where, [near.entry.uid for near in own])
            found = {item.uid: item for item in items}
            hits = deduplicate(
                [
                    *hits,
                    *(
                        _scored(item, near, near_by_uid.get(item.uid), judgements.get(item.uid), _moment(request))
                        for near in own
                        if (item := found.get(near.entry.uid)) is not None
                    ),
                ]
            )
            at, step = at + step, step * 2
        return hits

    async def _hydrated(self, where: ItemFilter, uids: Sequence[str]) -> Sequence[Item]:
        items = await hydrate(self._executor, where.namespace, uids)
        return (
            items if where.known_at is None else await as_known(self._executor, where.namespace, items, where.known_at)
        )


@dataclass(frozen=True, slots=True)
class _Look:
    """One look at the indexes, and its hits."""

    answers: Sequence[ArmResults]
    hits: Sequence[ScoredItem]
    linked: Mapping[str, str]
    left: Remaining


async def _nothing() -> list[str]:
    return []


def _finds(judgements: Iterable[Judgement], queries: Sequence[PlannedQuery]) -> bool:
    """Return whether the best candidates have support: a question about something else finds nothing."""
    least = LEAST_SUPPORT if any(query.vector is not None for query in queries) else LEAST_SUPPORT_UNREAD
    return any(judgement.support >= least for judgement in judgements)


def _beside(judgement: Judgement | None, *, least: float, unjudged: bool) -> bool:
    """Return whether a candidate has enough support given that a better one is found, or its score is at least `least`;
    `unjudged` applies to one without a judgement.

    Those follow all judged ones, unless a threshold removed these.
    """
    if judgement is None:
        return unjudged
    return judgement.support >= LEAST_SUPPORT_BESIDE or judgement.score >= least


def _is_narrow(where: ItemFilter) -> bool:
    """Return whether the filters name what the query is about, which it need not repeat."""
    return any(value is not None for value in (where.conversation_id, where.session_id, where.person_id))


def of_its_time(request: SearchRequest) -> SearchRequest:
    """Return `request`, which also finds the superseded facts of the time in the past that its queries are about."""
    if request.where.as_of is not None or not _judges(request):
        return request
    moment = _moment(request)
    asked = [past for query in request.queries if (past := past_asked(normalise(query), moment)) is not None]
    if not asked:
        return request
    first, last = min(begin for begin, _ in asked), max(end for _, end in asked)
    return replace(request, where=replace(request.where, held_from=first, held_to=last))


def _judges(request: SearchRequest) -> bool:
    """Return whether candidates are ordered by how well they answer."""
    return request.fusion_method == "linear" and request.weights is None


def _replaced(judgement: Judgement | None) -> bool:
    """Return whether a fact has ended and another holds in its place: like a superseded one it is no hit."""
    return judgement is not None and judgement.replaced


def _moment(request: SearchRequest) -> datetime:
    """Return the time of the queries: what held at another time is judged by that time."""
    return request.where.as_of or request.now or datetime.now(UTC)


def _below(fused: Sequence[Fused], found: Pooled, request: SearchRequest) -> Sequence[Fused]:
    """Return the candidates with lower scores for those that nothing supports any longer; the state of support at
    earlier moments is not recorded.
    """
    if request.where.known_at is not None:
        return fused
    now = _moment(request)
    fallen = {
        uid
        for pool in found.pools
        for uid, traits in pool.traits.items()
        if traits.falls is not None and traits.falls <= now
    }
    if not fallen:
        return fused
    return in_order(
        replace(entry, score=entry.score * UNSUPPORTED) if entry.uid in fallen else entry for entry in fused
    )


def _scored(
    item: Item, near: Near, nearness: Nearness | None, judgement: Judgement | None, now: datetime
) -> ScoredItem:
    similarity, cosine = (None, None) if nearness is None else (nearness.similarity, nearness.cosine)
    entry = near.entry
    return ScoredItem(
        item,
        entry.score,
        similarity,
        entry.shares,
        entry.signals,
        cosine=cosine,
        exempt=near.exempt,
        judgement=judgement,
        loss=loss_of(item, now),
        replaced_by=replaced_by(item, now),
    )


def _unjudged(queries: Sequence[PlannedQuery]) -> list[str]:
    """Return a note if some query could not be compared with hits by similarity."""
    without_vector = sum(query.vector is None for query in queries)
    if not without_vector:
        return []
    which = "no query was" if without_vector == len(queries) else f"{without_vector} of {len(queries)} queries were not"
    return [f"{which} read by an encoder: what these find is kept whatever its similarity"]


def _fused(request: SearchRequest, found: Sequence[Pool]) -> list[Fused]:
    rankings = [ranking for pool in found for ranking in pool.rankings if ranking.arm != WHOLE]
    match request.fusion_method:
        case "linear":
            weights = default_weights() if request.weights is None else request.weights
            fused = linear_fusion(found, weights, explain=request.explain)
        case "rrf":
            fused = reciprocal_rank_fusion(rankings)
        case "score_sum":
            fused = score_sum(rankings)
        case "score_max":
            fused = score_max(rankings)
    return boosted(fused, len(found), request.multi_query_boost)


def _keyword_status(request: SearchRequest, keyword: KeywordQuery) -> str:
    if KEYWORD not in request.arms:
        return NOT_ASKED
    return "skipped: the query has no word to look up" if keyword.empty else OK


def _statuses(answers: Sequence[ArmResults]) -> dict[str, str]:
    """Return one status per arm: "ok" if it ran for every query, else what happened, and to how many of the queries."""
    statuses: dict[str, str] = {}
    for arm in answers[0].status:
        troubles = [answer.status[arm] for answer in answers if answer.status[arm] != OK]
        some = f" ({len(troubles)} of {len(answers)} queries)" if 0 < len(troubles) < len(answers) else ""
        statuses[arm] = f"{troubles[0]}{some}" if troubles else OK
    return statuses


def _overfetch(answers: Sequence[ArmResults], *, again: bool, filled: bool) -> Overfetch | None:
    """Return the effort beyond a first look, or None if that was enough."""
    effort = max(answer.effort for answer in answers)
    if effort is Effort.FIRST_LOOK and not again:
        return None
    if not filled:
        return Overfetch.EXHAUSTED
    return Overfetch.EXACT if effort is Effort.EXACT_SCAN else Overfetch.DEEPER
