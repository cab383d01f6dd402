"""Running both arms of one query: together, alone, deeper when filters bite, and never silent about what went wrong."""

import logging
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass

from graph.errors import DatabaseAuthFailed, DatabaseUnavailable, GraphError
from graph.executor import Executor
from graph.search import KeywordQuery, VectorQuery, hybrid_candidates, keyword_candidates, vector_candidates
from graph.types import Candidate, ItemFilter
from retrieval.fusion import Ranking
from retrieval.types import KEYWORD, VECTOR

log = logging.getLogger("librarian.retrieval")

OK = "ok"
FILES = "files"
# Each deeper look asks the indexes for four times as many rows; beyond the last one a search says so instead of
# scanning on.
_DEEPER = 4
_MAX_ROWS = 20_000


@dataclass(frozen=True, slots=True)
class PlannedQuery:
    """One query ready to run: its vector and keyword terms, and what each arm has to say beforehand ("ok" or why
    not).
    """

    number: int
    vector: VectorQuery | None
    keyword: KeywordQuery
    status: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ArmResults:
    """Rankings of one query, what each arm did, and remarks on over-fetching."""

    rankings: Sequence[Ranking]
    status: dict[str, str]
    notes: Sequence[str]


async def run_arms(executor: Executor, where: ItemFilter, query: PlannedQuery, *, rows: int, wanted: int) -> ArmResults:
    """Rank candidates of `query`: `rows` an arm at first, more until each arm kept `wanted` items or has no more."""
    status = dict(query.status)
    if query.vector is None and query.keyword.empty:
        return ArmResults([], status, [])
    k = rows
    while True:
        candidates = await _candidates(executor, where, query, k, status)
        hungry = [arm for arm, found in _by_arm(candidates).items() if _is_hungry(found, k, wanted)]
        if not hungry or k >= _MAX_ROWS:
            break
        k = min(k * _DEEPER, _MAX_ROWS)
    return ArmResults(_rankings(query.number, candidates), status, _notes(k, rows, hungry))


async def _candidates(
    executor: Executor, where: ItemFilter, query: PlannedQuery, k: int, status: dict[str, str]
) -> list[Candidate]:
    """Both arms in one statement; when it fails as a whole, each arm by itself, with its failure in `status`."""
    if query.vector is None or status[VECTOR] != OK:
        return await _alone(keyword_candidates(executor, where, query.keyword, k), KEYWORD, status)
    try:
        return await hybrid_candidates(executor, where, query.vector, query.keyword, k)
    except (DatabaseUnavailable, DatabaseAuthFailed):
        raise
    except GraphError as error:
        log.warning("both arms together failed, trying each alone: %s", error)
    found = await _alone(vector_candidates(executor, where, query.vector, k), VECTOR, status)
    if not query.keyword.empty:
        found += await _alone(keyword_candidates(executor, where, query.keyword, k), KEYWORD, status)
    if status[VECTOR] != OK and status[KEYWORD] != OK:
        raise GraphError(f"no arm could run: vector {status[VECTOR]}; keyword {status[KEYWORD]}")
    return found


async def _alone(arm_rows: Awaitable[list[Candidate]], arm: str, status: dict[str, str]) -> list[Candidate]:
    try:
        return await arm_rows
    except (DatabaseUnavailable, DatabaseAuthFailed):
        raise
    except GraphError as error:
        status[arm] = f"failed: {error}"
        return []


def _by_arm(candidates: Sequence[Candidate]) -> dict[str, list[Candidate]]:
    """Rows by index asked; rows of the english index that also hold CJK text count for that index."""
    found: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        found.setdefault("keyword" if candidate.arm == "keyword_both" else candidate.arm, []).append(candidate)
    return found


def _is_hungry(found: Sequence[Candidate], k: int, wanted: int) -> bool:
    """Whether filters left too few items although the index has more rows to give."""
    return len(found) >= k and len({row.uid for row in found if row.keep}) < wanted


def _rankings(number: int, candidates: Sequence[Candidate]) -> list[Ranking]:
    """One ranking an arm, each item once with its best score, best first."""
    kept = [row for row in candidates if row.keep]
    cjk = [row for row in kept if row.arm == "keyword_cjk"]
    # The cjk index ranks what holds CJK text. What the english index finds beyond that comes after it.
    english = [row for row in kept if row.arm == "keyword" or (row.arm == "keyword_both" and not cjk)]
    arms = {
        VECTOR: _ordered([row for row in kept if row.arm == VECTOR]),
        KEYWORD: _once([*_ordered(cjk), *_ordered(english)]),
        FILES: _ordered([row for row in kept if row.arm == FILES]),
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


def _notes(k: int, rows: int, hungry: Sequence[str]) -> list[str]:
    if hungry:
        return [f"filters left too few items within the first {k} rows of: {', '.join(sorted(hungry))}"]
    return [f"filters needed a deeper look: {k} rows an index instead of {rows}"] if k > rows else []
