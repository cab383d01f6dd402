"""Hybrid search, from queries to deduplicated hits.

normalise -> encode all queries in one batch -> one statement a query, side by side -> fuse -> one round trip for the
pool's properties, evidence and missing cosines -> deduplicate -> cut.
"""

import asyncio
import math
from collections.abc import Sequence
from dataclasses import dataclass

from graph.executor import Executor
from graph.search import KeywordQuery, VectorQuery, hydrate, hydrate_with_cosine
from graph.types import FoundItem
from retrieval.arms import OK, ArmResults, PlannedQuery, run_arms
from retrieval.dedupe import deduplicate
from retrieval.encoders.base import Encoder
from retrieval.encoders.errors import EncoderError
from retrieval.fusion import DEFAULT_RRF_K, Fused, Share, reciprocal_rank_fusion
from retrieval.lucene import keyword_query
from retrieval.text import language, normalise
from retrieval.types import KEYWORD, VECTOR, ScoredItem, SearchRequest, SearchResult

# Statements side by side: two to five of them took 32-37 ms where one with five queries took 48-54 ms (2 cores, 100k
# items).
SIDE_BY_SIDE = 4
# Rows an arm for each hit wanted: deep enough that a fused list of 10 keeps what either arm has in its first 50.
ROWS_PER_HIT = 5
MIN_ROWS = 60
# Candidates hydrated at once for each hit wanted: a few more than one, since duplicates are dropped afterwards.
# Fetching properties is a third of a search's time, so more are fetched only when these do not fill the limit.
HYDRATED_PER_HIT = 1.5
NOT_ASKED = "skipped: not asked for"


@dataclass(frozen=True, slots=True)
class VectorArm:
    """The encoder in use, or why there is none. `languages` are those it was found to tell apart."""

    encoder: Encoder | None
    languages: frozenset[str] = frozenset()
    off_reason: str = "skipped: no encoder is configured (LIBRARIAN_ENCODER=none)"


class SearchPipeline:
    """Searches one graph with one encoder. Stateless between calls, safe for concurrent ones."""

    def __init__(self, executor: Executor, vector_arm: VectorArm) -> None:
        self._executor = executor
        self._arm = vector_arm
        self._slots = asyncio.Semaphore(SIDE_BY_SIDE)

    async def search(self, request: SearchRequest) -> SearchResult:
        """Hits for `request`, best first.

        Raises graph.errors.DatabaseUnavailable when nobody answers; one broken arm is reported in `arms` instead.
        """
        queries = await self._plan(request)
        rows = max(MIN_ROWS, request.limit * ROWS_PER_HIT)
        answers = await asyncio.gather(*(self._run(request, query, rows) for query in queries))
        rankings = [ranking for answer in answers for ranking in answer.rankings]
        fused = reciprocal_rank_fusion(rankings, k=DEFAULT_RRF_K)
        hits = await self._hits(request, fused, queries)
        return SearchResult(hits=hits[: request.limit], arms=_statuses(answers), notes=_once(answers))

    async def _run(self, request: SearchRequest, query: PlannedQuery, rows: int) -> ArmResults:
        async with self._slots:
            return await run_arms(self._executor, request.where, query, rows=rows, wanted=request.limit)

    async def _plan(self, request: SearchRequest) -> list[PlannedQuery]:
        texts = [normalise(query) for query in request.queries]
        wanted = VECTOR in request.arms
        reasons = [self._no_vector_reason(text) if wanted else NOT_ASKED for text in texts]
        readable = [text for text, reason in zip(texts, reasons, strict=True) if reason == OK]
        vectors, failure = await self._encode(readable)
        planned = []
        for number, (text, reason) in enumerate(zip(texts, reasons, strict=True)):
            vector = vectors.pop(0) if reason == OK and vectors else None
            keyword = keyword_query(text) if KEYWORD in request.arms else KeywordQuery()
            status = {VECTOR: failure or reason if reason == OK else reason, KEYWORD: _keyword_status(request, keyword)}
            planned.append(PlannedQuery(number, vector, keyword, status))
        return planned

    def _no_vector_reason(self, text: str) -> str:
        if self._arm.encoder is None:
            return self._arm.off_reason
        if not text:
            return "skipped: the query is empty after cleaning"
        if (spoken := language(text)) not in self._arm.languages:
            return f"skipped: encoder {self._arm.encoder.space.model} does not tell texts in {spoken!r} apart"
        return OK

    async def _encode(self, texts: Sequence[str]) -> tuple[list[VectorQuery], str]:
        """Vectors of `texts`, or none and the reason."""
        encoder = self._arm.encoder
        if encoder is None or not texts:
            return [], ""
        try:
            vectors = await encoder.encode_query(texts)
        except EncoderError as error:
            return [], f"failed: {error}"
        return [VectorQuery(encoder.space.id, vector.tolist()) for vector in vectors], ""

    async def _hits(
        self, request: SearchRequest, fused: Sequence[Fused], queries: Sequence[PlannedQuery]
    ) -> list[ScoredItem]:
        """Hydrated hits without duplicates: at least the limit, where that many different ones were found."""
        hits: list[ScoredItem] = []
        step = math.ceil(request.limit * HYDRATED_PER_HIT)
        for at in range(0, len(fused), step):
            hits = deduplicate([*hits, *await self._hydrate(request, fused[at : at + step], queries)])
            if len(hits) >= request.limit:
                break
        return hits

    async def _hydrate(
        self, request: SearchRequest, fused: Sequence[Fused], queries: Sequence[PlannedQuery]
    ) -> list[ScoredItem]:
        if not fused:
            return []
        cosines = {item.uid: _best_cosine(item.shares) for item in fused}
        found = await self._fetch(request.where.namespace, cosines, queries)
        return [
            ScoredItem(item, entry.score, _similarity(item, cosines[entry.uid]), entry.shares)
            for entry in fused
            if (item := found.get(entry.uid)) is not None
        ]

    async def _fetch(
        self, namespace: str, cosines: dict[str, float | None], queries: Sequence[PlannedQuery]
    ) -> dict[str, FoundItem]:
        vectors = [query.vector for query in queries if query.vector is not None]
        uids = list(cosines)
        if not vectors:
            return {item.uid: item for item in await hydrate(self._executor, namespace, uids)}
        unscored = [uid for uid, cosine in cosines.items() if cosine is None]
        found = await hydrate_with_cosine(self._executor, namespace, uids, unscored=unscored, queries=vectors)
        return {item.uid: item for item in found}


def _keyword_status(request: SearchRequest, keyword: KeywordQuery) -> str:
    if KEYWORD not in request.arms:
        return NOT_ASKED
    return "skipped: the query has no word to look up" if keyword.empty else OK


def _best_cosine(shares: Sequence[Share]) -> float | None:
    return max((share.score for share in shares if share.arm == VECTOR), default=None)


def _similarity(item: FoundItem, cosine: float | None) -> float | None:
    return item.cosine if cosine is None else cosine


def _statuses(answers: Sequence[ArmResults]) -> dict[str, str]:
    """One status an arm: "ok" when it ran for every query, else what happened, and to how many of the queries."""
    statuses: dict[str, str] = {}
    for arm in answers[0].status:
        troubles = [answer.status[arm] for answer in answers if answer.status[arm] != OK]
        some = f" ({len(troubles)} of {len(answers)} queries)" if 0 < len(troubles) < len(answers) else ""
        statuses[arm] = f"{troubles[0]}{some}" if troubles else OK
    return statuses


def _once(answers: Sequence[ArmResults]) -> list[str]:
    return list(dict.fromkeys(note for answer in answers for note in answer.notes))
