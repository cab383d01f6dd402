"""Why a search does not show an item: what kept it out, and where each arm has it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from graph.executor import Executor
from graph.search import INDEX_ROWS, hydrate
from graph.standing import Standing, standing_of
from graph.types import FOREVER, UNKNOWN_TIME, FoundItem, ItemFilter, Kind
from retrieval.arms import OK, ArmResults, Depth, PlannedQuery, run_arms
from retrieval.pipeline import SearchPipeline
from retrieval.types import KEYWORD, VECTOR, SearchRequest, SearchResult

# So far ranks are told; the server gives no more rows of a vector index.
_ALL = Depth(rows=INDEX_ROWS, wanted=INDEX_ROWS, deeper=INDEX_ROWS)
# More than any pool holds: every candidate is shown, not only those that fill the limit.
_WHOLE_POOL = 1_000


class Verdict(StrEnum):
    """What became of the item; the first that holds, in this order."""

    FILTERED = "filtered"
    SUPERSEDED = "superseded"
    FOUND = "found"
    DUPLICATE = "duplicate"
    BELOW_THRESHOLD = "below_threshold"
    CUT_BY_LIMIT = "cut_by_limit"
    NOT_EMBEDDED = "not_embedded"
    OUTSIDE_POOL = "outside_pool"


@dataclass(frozen=True, slots=True)
class ArmStanding:
    """Where one arm has the item for one query: rank from 1 among all that pass the filters; None and `reason` where
    it has not. `cosine` (-1..1) in the vector arm only.
    """

    query: int
    arm: str
    rank: int | None
    cosine: float | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """`rank` counts all candidates in the order of the fusion, before the cut; `filters` names those that the item
    fails; `duplicate_of` is the hit that says the same.
    """

    verdict: Verdict
    rank: int | None = None
    filters: Sequence[str] = ()
    superseded_by: Sequence[str] = ()
    duplicate_of: str | None = None
    similarity: float | None = None
    threshold: float | None = None
    arms: Sequence[ArmStanding] = ()


async def diagnose(executor: Executor, pipeline: SearchPipeline, request: SearchRequest, uid: str) -> Diagnosis | None:
    """What keeps the item `uid` out of the hits of `request`; None when its namespace has no such item.

    An item of another namespace looks like one that does not exist.
    """
    found = await hydrate(executor, request.where.namespace, [uid])
    standing = await standing_of(executor, request.where.namespace, uid)
    if not found or standing is None:
        return None
    if failing := failing_filters(found[0], request.where):
        return Diagnosis(Verdict.FILTERED, filters=failing, superseded_by=standing.superseded_by)
    if standing.superseded_by and request.where.as_of is None:
        return Diagnosis(Verdict.SUPERSEDED, superseded_by=standing.superseded_by)
    arms = await _standings(executor, pipeline, request, uid, standing)
    result = await pipeline.search(replace(request, spare=_WHOLE_POOL))
    return replace(_placed(result, uid, request.limit) or _unplaced(arms), arms=arms)


def failing_filters(item: FoundItem, where: ItemFilter) -> list[str]:
    """Names of the filters of `where` that `item` does not pass, as requests spell them."""
    given = [name for name in _PASSES if getattr(where, name) is not None]
    return [name for name in given if not _PASSES[name](item.properties, getattr(where, name))]


def _is(field: str) -> Callable[[Mapping[str, Any], Any], bool]:
    return lambda item, wanted: bool(item.get(field) == wanted)


def _is_one_of(field: str) -> Callable[[Mapping[str, Any], Any], bool]:
    return lambda item, wanted: item.get(field) in wanted


def _held_at(item: Mapping[str, Any], moment: datetime) -> bool:
    """Facts that were valid then; other kinds always are."""
    begins, ends = item.get("valid_from") or UNKNOWN_TIME, item.get("valid_to") or FOREVER
    return item["kind"] != Kind.FACT or bool(begins <= moment < ends)


_PASSES: Mapping[str, Callable[[Mapping[str, Any], Any], bool]] = {
    "kinds": _is_one_of("kind"),
    "types": _is_one_of("type"),
    "authors": _is_one_of("author_name"),
    "conversation_id": _is("conversation_id"),
    "session_id": _is("session_id"),
    "person_id": _is("person_id"),
    "domain": _is("domain"),
    "tags": lambda item, wanted: set(wanted) <= set(item.get("tags") or ()),
    "agent": _is("agent"),
    "path_prefix": lambda item, wanted: str(item.get("path") or "").startswith(wanted) and "path" in item,
    "occurred_from": lambda item, wanted: (item.get("occurred_at") or UNKNOWN_TIME) >= wanted,
    "occurred_to": lambda item, wanted: (item.get("occurred_at") or UNKNOWN_TIME) <= wanted,
    "as_of": _held_at,
}
"""Filter -> whether an item's properties pass it: the conditions of `item_filters` in cypher/search.cypher, one by
one."""


def _placed(result: SearchResult, uid: str, limit: int) -> Diagnosis | None:
    """Where the item stands among all candidates; None when it is not one of them."""
    for rank, hit in enumerate(result.hits, start=1):
        if hit.item.uid == uid:
            verdict = Verdict.FOUND if rank <= limit else Verdict.CUT_BY_LIMIT
            return Diagnosis(verdict, rank=rank, similarity=hit.similarity)
        if uid in hit.duplicates:
            return Diagnosis(Verdict.DUPLICATE, rank=rank, similarity=hit.similarity, duplicate_of=hit.item.uid)
    for hit in result.below:
        if uid in (hit.item.uid, *hit.duplicates):
            threshold = result.threshold.floor if result.threshold else None
            return Diagnosis(Verdict.BELOW_THRESHOLD, similarity=hit.similarity, threshold=threshold)
    return None


def _unplaced(arms: Sequence[ArmStanding]) -> Diagnosis:
    """Why the item is no candidate: its vector is missing, or both arms have too much that fits better."""
    lacks_vector = any(arm.reason in _WITHOUT_VECTOR for arm in arms)
    return Diagnosis(Verdict.NOT_EMBEDDED if lacks_vector else Verdict.OUTSIDE_POOL)


async def _standings(
    executor: Executor, pipeline: SearchPipeline, request: SearchRequest, uid: str, standing: Standing
) -> list[ArmStanding]:
    found = []
    for query in await pipeline.plan(request):
        answer = await run_arms(executor, request.where, query, _ALL)
        found += [_standing_in(query, answer, arm, uid, standing) for arm in (VECTOR, KEYWORD)]
    return found


def _standing_in(query: PlannedQuery, answer: ArmResults, arm: str, uid: str, standing: Standing) -> ArmStanding:
    """The file index belongs to the keyword arm."""
    rankings = [ranking for ranking in answer.rankings if (ranking.arm == VECTOR) == (arm == VECTOR)]
    for ranking in rankings:
        if uid in ranking.uids:
            place = list(ranking.uids).index(uid)
            return ArmStanding(query.number, arm, place + 1, ranking.scores[place] if arm == VECTOR else None)
    beyond = any(len(ranking.uids) >= INDEX_ROWS for ranking in rankings)
    return ArmStanding(query.number, arm, None, reason=_absence(answer.status[arm], arm, standing, beyond=beyond))


_PENDING = "it has no vector yet"
_REFUSED = "the encoder refused its text"
_NO_VECTOR = "it has no vector"
_WITHOUT_VECTOR = (_PENDING, _REFUSED, _NO_VECTOR)


def _absence(status: str, arm: str, standing: Standing, *, beyond: bool) -> str:
    """Why an arm does not have the item."""
    if status != OK:
        return status
    if arm == VECTOR and (standing.pending or standing.refused):
        return _REFUSED if standing.refused else _PENDING
    if beyond:
        return f"it is not among the first {INDEX_ROWS}"
    return _NO_VECTOR if arm == VECTOR else "it holds none of the query's words"
