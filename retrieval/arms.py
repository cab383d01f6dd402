"""Running both arms of one query: together, alone, deeper when filters bite, and never silent about what went wrong.

A first look takes the same number of rows of every index. An index that had more to give although too few of its rows
passed the filters is underfilled: it is asked again for many more rows, which are judged in the database, and then the
items that pass the filters are searched individually. So an arm ends with enough items, or with all there are.
"""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from graph.errors import DatabaseAuthFailed, DatabaseUnavailable, GraphError
from graph.executor import Executor
from graph.search import (
    ALL_ROWS,
    INDEX_ROWS,
    KeywordQuery,
    VectorQuery,
    hybrid_candidates,
    keyword_candidates,
    keyword_candidates_deeper,
    vector_candidates,
    vector_candidates_deeper,
    vector_candidates_exact,
)
from graph.types import Candidate, ItemFilter, Noise, PoolRow
from retrieval.fusion import Ranking
from retrieval.signals import QueryTraits
from retrieval.types import KEYWORD, VECTOR

log = logging.getLogger("librarian.retrieval")

MOST_DESCRIBED = 1_000
"""Rows an arm up to which both arms are asked in one statement, with all that ranking needs to know."""

OK = "ok"
FILES = "files"


class Effort(IntEnum):
    """How far the search of a query had to go."""

    FIRST_LOOK = 0
    DEEPER_LOOK = 1
    EXACT_SCAN = 2


@dataclass(frozen=True, slots=True)
class PlannedQuery:
    """One query ready to run: its vector and keyword terms, and what each arm has to say beforehand ("ok" or why
    not).

    `vector` ranks, without the names of authors; `as_asked` (the same where there are none) and `noise` tell how
    similar a hit is. All three are None where the encoder has no part in it.
    """

    number: int
    text: str = field(repr=False)
    vector: VectorQuery | None
    as_asked: VectorQuery | None
    noise: Noise | None
    keyword: KeywordQuery
    status: Mapping[str, str]
    traits: QueryTraits

    @property
    def beside(self) -> VectorQuery | None:
        """The vector of the query as asked, where it is another than the one that ranks."""
        return None if self.as_asked is self.vector else self.as_asked


@dataclass(frozen=True, slots=True)
class Depth:
    """How far to look: `rows` of each index at first and items of each arm at most, `deeper` rows of each index when
    fewer than `wanted` of them pass the filters.
    """

    rows: int
    wanted: int
    deeper: int


@dataclass(frozen=True, slots=True)
class ArmResults:
    """Rankings of one query, what each arm did, how far it went, and whether that was all that passes the filters.

    `rows` has by uid what the arms told of candidates on the way, with the cosines that they measured: to `vector` and,
    where it is another, to `as_asked`.
    """

    rankings: Sequence[Ranking]
    status: Mapping[str, str]
    effort: Effort
    complete: bool
    rows: Mapping[str, PoolRow] = field(default_factory=dict, repr=False)


async def run_arms(executor: Executor, where: ItemFilter, query: PlannedQuery, depth: Depth) -> ArmResults:
    """Rank candidates of `query`, until each arm holds `depth.wanted` items or all that pass the filters."""
    run = _Run(executor, where, query, depth)
    await run.first_look()
    for effort in (Effort.DEEPER_LOOK, Effort.EXACT_SCAN):
        if run.underfilled:
            await run.look_again(effort)
    rankings = _rankings(query.number, run.candidates)
    return ArmResults(rankings, run.status, run.effort, complete=not run.unexhausted, rows=run.rows)


class _Run:
    """The candidates of one query so far."""

    def __init__(self, executor: Executor, where: ItemFilter, query: PlannedQuery, depth: Depth) -> None:
        self._executor = executor
        self._where = where
        self._query = query
        self._depth = depth
        self.status = dict(query.status)
        self.effort = Effort.FIRST_LOOK
        self.candidates: list[Candidate] = []
        self.rows: dict[str, PoolRow] = {}
        self.unexhausted: set[str] = set()
        """Indexes that may hold more items which pass the filters."""

    @property
    def underfilled(self) -> set[str]:
        """Unread indexes that have given too few items."""
        return {index for index in self.unexhausted if len(_items(self.candidates, index)) < self._depth.wanted}

    async def first_look(self) -> None:
        """The same number of rows of every index the query asks."""
        query, rows = self._query, self._depth.rows
        if query.vector is None and query.keyword.empty:
            return
        self.candidates = await self._both(query.vector, rows)
        given: defaultdict[str, int] = defaultdict(int)
        for row in self.candidates:
            given[_index(row)] += 1
        self.unexhausted = {index for index, count in given.items() if count >= min(rows, INDEX_ROWS)}
        self.candidates = [row for row in self.candidates if row.keep]

    async def look_again(self, effort: Effort) -> None:
        """Search the arms of the underfilled indexes with more effort; what they gave before is replaced."""
        underfilled, self.effort = self.underfilled, effort
        looks = []
        if self._query.vector is not None and VECTOR in underfilled:
            looks.append(self._replace(VECTOR, self._vector_again(self._query.vector, effort)))
        if underfilled - {VECTOR}:
            looks.append(self._replace(KEYWORD, self._keyword_again(effort)))
        await asyncio.gather(*looks)
        if effort is Effort.EXACT_SCAN:
            self.unexhausted -= {i for i in underfilled if len(_items(self.candidates, i)) < self._depth.rows}

    def _vector_again(self, vector: VectorQuery, effort: Effort) -> Awaitable[list[Candidate]]:
        rows = self._depth.rows
        if effort is Effort.EXACT_SCAN:
            return vector_candidates_exact(self._executor, self._where, vector, limit=rows)
        return vector_candidates_deeper(self._executor, self._where, vector, k=self._depth.deeper, limit=rows)

    def _keyword_again(self, effort: Effort) -> Awaitable[list[Candidate]]:
        k = ALL_ROWS if effort is Effort.EXACT_SCAN else self._depth.deeper
        return keyword_candidates_deeper(self._executor, self._where, self._query.keyword, k=k, limit=self._depth.rows)

    async def _replace(self, arm: str, search: Awaitable[list[Candidate]]) -> None:
        """Take over what `search` finds for `arm`; when it fails, what is there stays and must do."""
        found = await self._alone(search, arm)
        if self.status[arm] == OK:
            self.candidates = [*(row for row in self.candidates if _arm(_index(row)) != arm), *found]
        else:
            self.unexhausted = {index for index in self.unexhausted if _arm(index) != arm}

    async def _both(self, vector: VectorQuery | None, rows: int) -> list[Candidate]:
        """Both arms in one statement that also describes what it finds; when it fails as a whole, or so many rows are
        wanted that most of them will not be needed, each arm by itself, with its failure in `status`.
        """
        executor, where, keyword = self._executor, self._where, self._query.keyword
        if vector is None:
            return await self._alone(keyword_candidates(executor, where, keyword, rows), KEYWORD)
        if rows <= MOST_DESCRIBED:
            try:
                look = await hybrid_candidates(executor, where, vector, keyword, rows, self._query.beside)
            except (DatabaseUnavailable, DatabaseAuthFailed):
                raise
            except GraphError as error:
                log.warning("both arms together failed, trying each alone: %s", error)
            else:
                self.rows = {row.uid: row for row in look.rows}
                return list(look.candidates)
        found = await self._alone(vector_candidates(executor, where, vector, rows), VECTOR)
        if not keyword.empty:
            found += await self._alone(keyword_candidates(executor, where, keyword, rows), KEYWORD)
        if self.status[VECTOR] != OK and self.status[KEYWORD] != OK:
            raise GraphError(f"no arm could run: vector {self.status[VECTOR]}; keyword {self.status[KEYWORD]}")
        return found

    async def _alone(self, search: Awaitable[list[Candidate]], arm: str) -> list[Candidate]:
        try:
            return await search
        except (DatabaseUnavailable, DatabaseAuthFailed):
            raise
        except GraphError as error:
            self.status[arm] = f"failed: {error}"
            return []


def _index(row: Candidate) -> str:
    """The index that gave `row`; rows of the english index that also hold CJK text have a name of their own."""
    return KEYWORD if row.arm == "keyword_both" else row.arm


def _arm(index: str) -> str:
    return VECTOR if index == VECTOR else KEYWORD


def _items(candidates: Sequence[Candidate], index: str) -> set[str]:
    return {row.uid for row in candidates if _index(row) == index}


def _rankings(number: int, candidates: Sequence[Candidate]) -> list[Ranking]:
    """One ranking an arm, each item once with its best score, best first."""
    cjk = [row for row in candidates if row.arm == "keyword_cjk"]
    # The cjk index ranks what holds CJK text. What the english index finds beyond that comes after it.
    english = [row for row in candidates if row.arm == "keyword" or (row.arm == "keyword_both" and not cjk)]
    arms = {
        VECTOR: _ordered([row for row in candidates if row.arm == VECTOR]),
        KEYWORD: _once([*_ordered(cjk), *_ordered(english)]),
        FILES: _ordered([row for row in candidates if row.arm == FILES]),
    }
    return [
        Ranking(number, arm, [row.uid for row in found], [row.score for row in found])
        for arm, found in arms.items()
        if found
    ]


def _ordered(rows: Sequence[Candidate]) -> list[Candidate]:
    return _once(sorted(rows, key=lambda row: (-row.score, row.uid)))


def _once(rows: Sequence[Candidate]) -> list[Candidate]:
    best: dict[str, Candidate] = {}
    for row in rows:
        best.setdefault(row.uid, row)
    return list(best.values())
