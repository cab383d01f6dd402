"""Explains why a search does not show an item: what excluded it, and where each arm ranks it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from graph.executor import Executor
from graph.item import Fact, FileChunk, Item, Memory, Message, expired_at, held_at, held_between
from graph.search import INDEX_ROWS, Standing, hydrate, standing_of
from graph.types import UNKNOWN_TIME, ItemFilter
from retrieval.arms import OK, ArmResults, Depth, PlannedQuery, run_arms
from retrieval.pipeline import SearchPipeline, of_its_time
from retrieval.types import KEYWORD, VECTOR, SearchRequest, SearchResult

# Ranks are reported up to here; the server returns no more rows of a vector index.
_ALL = Depth(rows=INDEX_ROWS, wanted=INDEX_ROWS, deeper=INDEX_ROWS)
# More than any pool holds: every candidate is shown, not only those that fill the limit.
_WHOLE_POOL = 1_000


class Verdict(StrEnum):
    """Fate of the item; the first that applies, in this order."""

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
    """Position of the item in one arm for one query: rank from 1 among all that pass the filters, or None and `reason`.
    `cosine` (-1..1) in the vector arm only.
    """

    query: int
    arm: str
    rank: int | None
    cosine: float | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """`rank` counts all candidates in fusion order, before the cut; `filters` names those that the item fails;
    `duplicate_of` is the hit that says the same.
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
    """Return what keeps the item `uid` out of the hits of `request`; None if its namespace has no such item.

    An item of another namespace looks like one that does not exist.
    """
    request = of_its_time(request)
    found = await hydrate(executor, request.where.namespace, [uid])
    standing = await standing_of(executor, request.where.namespace, uid)
    if not found or standing is None:
        return None
    if failing := failing_filters(found[0], request.where):
        return Diagnosis(Verdict.FILTERED, filters=failing, superseded_by=standing.superseded_by)
    replaced = standing.superseded_by and request.where.as_of is None and request.where.known_at is None
    if replaced and not held_between(found[0], request.where.held_from, request.where.held_to):
        return Diagnosis(Verdict.SUPERSEDED, superseded_by=standing.superseded_by)
    arms = await _standings(executor, pipeline, request, uid, standing)
    result = await pipeline.search(replace(request, spare=_WHOLE_POOL))
    diagnosis = _placed(result, uid, request.limit) or Diagnosis(Verdict.OUTSIDE_POOL)
    if diagnosis.verdict in (Verdict.BELOW_THRESHOLD, Verdict.OUTSIDE_POOL) and _lacks_vector(arms):
        diagnosis = Diagnosis(Verdict.NOT_EMBEDDED)
    return replace(diagnosis, arms=arms)


def failing_filters(item: Item, where: ItemFilter) -> list[str]:
    """Return the names of the filters of `where` that `item` does not pass, as spelled in requests."""
    active = [name for name in _PASSES if getattr(where, name) is not None]
    return [name for name in active if not _PASSES[name](item, getattr(where, name))]


_PASSES: Mapping[str, Callable[[Item, Any], bool]] = {
    "kinds": lambda item, wanted: item.kind in wanted,
    "types": lambda item, wanted: isinstance(item, Memory) and item.type in wanted,
    "authors": lambda item, wanted: isinstance(item, Message) and item.author_name in wanted,
    "conversation_id": lambda item, wanted: isinstance(item, Message) and item.conversation_id == wanted,
    "session_id": lambda item, wanted: isinstance(item, Message) and item.session_id == wanted,
    "person_id": lambda item, wanted: isinstance(item, Fact) and item.person_id == wanted,
    "domain": lambda item, wanted: item.domain == wanted,
    "tags": lambda item, wanted: set(wanted) <= set(item.tags),
    "agent": lambda item, wanted: isinstance(item, Memory) and item.agent == wanted,
    "path_prefix": lambda item, wanted: isinstance(item, FileChunk) and item.path.startswith(wanted),
    "occurred_from": lambda item, wanted: (item.occurred_at or UNKNOWN_TIME) >= wanted,
    "occurred_to": lambda item, wanted: (item.occurred_at or UNKNOWN_TIME) <= wanted,
    "as_of": held_at,
    "known_at": lambda item, wanted: item.created_at <= wanted,
    "resembling": lambda item, wanted: (item.resembles is not None and not item.pinned) == wanted,
    "expired": lambda item, wanted: wanted or not expired_at(item, datetime.now(UTC)),
}
"""Filter -> whether an item passes it: the conditions of `item_filters` in cypher/search.cypher, one by one."""


def _placed(result: SearchResult, uid: str, limit: int) -> Diagnosis | None:
    """Return the item's place among all candidates, or None if it is not one of them."""
    for rank, hit in enumerate(result.hits, start=1):
        if hit.item.uid == uid:
            verdict = Verdict.FOUND if rank <= limit else Verdict.CUT_BY_LIMIT
            return Diagnosis(verdict, rank=rank, similarity=hit.similarity)
        if uid in hit.duplicates:
            return Diagnosis(Verdict.DUPLICATE, rank=rank, similarity=hit.similarity, duplicate_of=hit.item.uid)
    for below in result.below:
        if uid == below.uid:
            threshold = result.threshold.floor if result.threshold else None
            return Diagnosis(Verdict.BELOW_THRESHOLD, similarity=below.similarity, threshold=threshold)
    return None


def _lacks_vector(arms: Sequence[ArmStanding]) -> bool:
    return any(arm.reason.startswith(_WITHOUT_VECTOR) for arm in arms if arm.reason)


async def _standings(
    executor: Executor, pipeline: SearchPipeline, request: SearchRequest, uid: str, standing: Standing
) -> list[ArmStanding]:
    found = []
    for query in await pipeline.plan(request):
        answer = await run_arms(executor, request.where, query, _ALL)
        found += [_standing_in(query, answer, arm, uid, standing) for arm in (VECTOR, KEYWORD)]
    return found


def _standing_in(query: PlannedQuery, answer: ArmResults, arm: str, uid: str, standing: Standing) -> ArmStanding:
    """Return the item's standing in an arm. The file index belongs to the keyword arm."""
    rankings = [ranking for ranking in answer.rankings if (ranking.arm == VECTOR) == (arm == VECTOR)]
    for ranking in rankings:
        if uid in ranking.uids:
            index = list(ranking.uids).index(uid)
            return ArmStanding(query.number, arm, index + 1, ranking.scores[index] if arm == VECTOR else None)
    beyond = any(len(ranking.uids) >= INDEX_ROWS for ranking in rankings)
    return ArmStanding(query.number, arm, None, reason=_absence(answer.status[arm], arm, standing, beyond=beyond))


_PENDING = "it has no vector yet"
_REFUSED = "the encoder refused its text"
_UNREAD = "the encoder does not tell texts in"
_NO_VECTOR = "it has no vector"
_WITHOUT_VECTOR = (_PENDING, _REFUSED, _UNREAD, _NO_VECTOR)


def _absence(status: str, arm: str, standing: Standing, *, beyond: bool) -> str:
    """Return why an arm does not have the item."""
    if status != OK:
        return status
    if arm == VECTOR and (standing.pending or standing.refused):
        if standing.refused and standing.unread:
            return f"{_UNREAD} {standing.unread!r} apart, so it has no vector"
        return _REFUSED if standing.refused else _PENDING
    if beyond:
        return f"it is not among the first {INDEX_ROWS}"
    return _NO_VECTOR if arm == VECTOR else "it holds none of the query's words"
