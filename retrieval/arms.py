"""Runs both arms of one query: together, alone, deeper when filters remove too much, and always reporting failures.

A first look takes the same number of rows of every index. An index that had more to give although too few of its rows
passed the filters is underfilled: it is queried again for many more rows, which are filtered in the database, and then
the items that pass the filters are searched individually. So an arm ends with enough items, or with all there are.
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
"""Rows per arm up to which both arms run in one statement, with all that ranking needs."""

OK = "ok"
FILES = "files"


class Effort(IntEnum):
    """How far the search of a query had to go."""

    FIRST_LOOK = 0
    DEEPER_LOOK = 1
    EXACT_SCAN = 2


@dataclass(frozen=True, slots=True)
class PlannedQuery:
    """One query ready to run: its vector and keyword terms, and each arm's initial status ("ok" or why not).

    `vector` ranks, without the names of authors; `as_asked` (the same if there are none) and `noise` determine the
    similarity of hits. All three are None if the encoder takes no part.
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
        """The vector of the query as asked, if it differs from the one that ranks."""
        return None if self.as_asked is self.vector else self.as_asked


@dataclass(frozen=True, slots=True)
class Depth:
    """How far to search: at most `rows` rows of each index at first and as many items of each arm, `deeper` rows of
    each index if fewer than `wanted` of them pass the filters.
    """

    rows: int
    wanted: int
    deeper: int


@dataclass(frozen=True, slots=True)
class ArmResults:
    """Rankings of one query, each arm's status, the effort, and whether everything that passes the filters was found.

    `rows` holds by uid what the arms learned about candidates, with the cosines they measured: to `vector` and, if
    different, to `as_asked`.
    """

    rankings: Sequence[Ranking]
    status: Mapping[str, str]
    effort: Effort
    complete: bool
    rows: Mapping[str, PoolRow] = field(default_factory=dict, repr=False)


async def run_arms(executor: Executor, where: ItemFilter, query: PlannedQuery, depth: Depth) -> ArmResults:
    """Rank candidates of `query` until each arm holds `depth.wanted` items or all that pass the filters."""
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
        """Indexes that may hold more items that pass the filters."""

    @property
    def underfilled(self) -> set[str]:
        """Unexhausted indexes that have returned too few items."""
        return {index for index in self.unexhausted if len(_items(self.candidates, index)) < self._depth.wanted}

    async def first_look(self) -> None:
        """Take the same number of rows of every index the query uses."""
        query, rows = self._query, self._depth.rows
        if query.vector is None and query.keyword.empty:
            return
        self.candidates = await self._both(query.vector, rows)
        row_counts: defaultdict[str, int] = defaultdict(int)
        for row in self.candidates:
            row_counts[_index(row)] += 1
        self.unexhausted = {index for index, count in row_counts.items() if count >= min(rows, INDEX_ROWS)}
        self.candidates = [row for row in self.candidates if row.keep]

    async def look_again(self, effort: Effort) -> None:
        """Search the arms of the underfilled indexes with more effort, replacing their earlier rows."""
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
        """Replace the rows of `arm` by those of `search`; if it fails, the earlier ones stay."""
        found = await self._alone(search, arm)
        if self.status[arm] == OK:
            self.candidates = [*(row for row in self.candidates if _arm(_index(row)) != arm), *found]
        else:
            self.unexhausted = {index for index in self.unexhausted if _arm(index) != arm}

    async def _both(self, vector: VectorQuery | None, rows: int) -> list[Candidate]:
        """Run both arms in one statement that also describes their items. If it fails as a whole, or so many rows are
        wanted that most will not be needed, run each arm alone, with its failure in `status`.
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
    """Return the index of `row`; rows of the english index that also hold CJK text have a name of their own."""
    return KEYWORD if row.arm == "keyword_both" else row.arm


def _arm(index: str) -> str:
    return VECTOR if index == VECTOR else KEYWORD


def _items(candidates: Sequence[Candidate], index: str) -> set[str]:
    return {row.uid for row in candidates if _index(row) == index}


def _rankings(number: int, candidates: Sequence[Candidate]) -> list[Ranking]:
    """Return one ranking per arm, each item once with its best score, best first."""
    cjk = [row for row in candidates if row.arm == "keyword_cjk"]
    # The cjk index ranks items with CJK text. What only the english index finds comes after them.
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
