"""Reranks the best candidates of a search, from the top, for as long as that can change the hits shown."""

import asyncio
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from graph.item import Fact, Item, Message
from retrieval.rerankers.base import Reranker, Score
from retrieval.rerankers.errors import TEXT_FAULTS, RerankerError

OVERSAMPLE = 3.0
MAX_CANDIDATES = 100
UNKNOWN_AUTHOR = "Unknown"

_ENOUGH_TO_COMPARE = 3


class RerankStatus(StrEnum):
    """Outcome of a rerank; after the first three the order is the reranker's, after the others the fused one."""

    COMPLETE = "complete"
    SETTLED = "settled"
    PARTIAL = "partial"
    SKIPPED = "skipped"
    OFF = "off"
    LATE = "late"
    FAILED = "failed"
    UNCERTAIN = "uncertain"


_RERANKED = frozenset({RerankStatus.COMPLETE, RerankStatus.SETTLED, RerankStatus.PARTIAL})


@dataclass(frozen=True, slots=True)
class RerankOutcome:
    """`order` holds the positions of all candidates, best first; `scores` those that were scored, by position.

    `reason` says why not all candidates were scored, or why the fused order stays; None after COMPLETE. `error_code` is
    that of the RerankerError behind FAILED, `faults` are those of single texts, which cost only their own scores.
    `pool` candidates were given to the reranker.
    """

    order: Sequence[int]
    status: RerankStatus
    reason: str | None = None
    scores: Mapping[int, float] = field(default_factory=dict)
    error_code: str | None = None
    faults: Sequence[str] = ()
    pool: int = 0

    @property
    def reranked(self) -> bool:
        """Whether the order is the reranker's."""
        return self.status in _RERANKED


def unchanged(count: int, status: RerankStatus, reason: str, *, error_code: str | None = None) -> RerankOutcome:
    """Return the outcome that leaves `count` candidates in their fused order."""
    return RerankOutcome(range(count), status, reason, error_code=error_code)


def pool_size(count: int, *, limit: int, oversample: float = OVERSAMPLE, cap: int = MAX_CANDIDATES) -> int:
    """Return how many of `count` candidates are worth scoring for `limit` hits: `oversample` for each, at most `cap`; 0
    if no candidate could enter the hits.
    """
    size = min(count, cap, math.ceil(limit * oversample))
    return size if size > limit else 0


async def rerank_pool(
    reranker: Reranker,
    query: str,
    texts: Sequence[str],
    *,
    limit: int,
    oversample: float = OVERSAMPLE,
    cap: int = MAX_CANDIDATES,
    deadline_s: float,
) -> RerankOutcome:
    """Put candidates, whose `texts` come in fused order, into the reranker's order. Never raises RerankerError.

    They are scored from the top, batch by batch, until all are, or the first `limit` are settled, or `deadline_s`
    seconds have passed. Scored candidates precede the others, which keep the fused order. A text that the reranker
    fails on loses only its own score. The fused order stays as a whole if it fails on all of them, scores nothing in
    time, is not certain about those that would be shown, or gives everything the same score.
    """
    size = pool_size(len(texts), limit=limit, oversample=oversample, cap=cap)
    if size == 0:
        return unchanged(len(texts), RerankStatus.SKIPPED, "no more candidates than hits wanted")
    outcome = await _outcome_of(reranker, query, texts, size, limit, deadline_s)
    return replace(outcome, pool=size)


async def _outcome_of(
    reranker: Reranker, query: str, texts: Sequence[str], size: int, limit: int, deadline_s: float
) -> RerankOutcome:
    scores: list[Score] = []
    try:
        async with asyncio.timeout(deadline_s):
            await _score(reranker, query, texts[:size], scores, limit)
    except TimeoutError:
        if not scores:
            return unchanged(len(texts), RerankStatus.LATE, f"the reranker scored nothing within {deadline_s:g} s")
        return _outcome(len(texts), scores, limit, RerankStatus.PARTIAL, f"scored {len(scores)} of {size} in time")
    except RerankerError as error:
        return unchanged(len(texts), RerankStatus.FAILED, str(error), error_code=error.code)
    if len(scores) < size:
        return _outcome(len(texts), scores, limit, RerankStatus.SETTLED, f"settled after {len(scores)} of {size}")
    if lost := len(_faults(scores)):
        reason = f"scored {size - lost} of {size}: the reranker fails on the others"
        return _outcome(len(texts), scores, limit, RerankStatus.PARTIAL, reason)
    return _outcome(len(texts), scores, limit, RerankStatus.COMPLETE, None)


def is_settled(values: Sequence[float], limit: int) -> bool:
    """Return whether the first `limit` count as final: the last `limit` candidates scored all rank below the best
    `limit` of those before them.

    A heuristic: if as many candidates in a row as are shown brought nothing, the rest, which fusion ranks still lower,
    is skipped.
    """
    if len(values) < 2 * limit:
        return False
    shown = sorted(values[:-limit], reverse=True)[:limit]
    return max(values[-limit:]) < shown[-1]


def candidate_text(item: Item) -> str:
    """Return an item's text for a reranker: a fact as a sentence, a message with its author, others unchanged."""
    if isinstance(item, Fact) and item.predicate:
        return " ".join(part for part in (item.subject, item.predicate, item.object) if part)
    if isinstance(item, Message):
        return f"{item.author_name or UNKNOWN_AUTHOR}: {item.text}"
    return item.text


async def _score(reranker: Reranker, query: str, texts: Sequence[str], scores: list[Score], limit: int) -> None:
    """Append scores of `texts` to `scores`, batch by batch, until they settle.

    If a whole batch fails, its texts may be the reason: the next is tried, unless nothing has been scored so far.
    """
    while len(scores) < len(texts) and not is_settled(_values(scores), limit):
        batch = texts[len(scores) : len(scores) + reranker.batch_size]
        try:
            scores.extend(await reranker.score_pairs(query, batch))
        except TEXT_FAULTS as error:
            scores.extend([Score(0.5, certain=False, fault=error.code)] * len(batch))
            if len(scores) >= min(_ENOUGH_TO_COMPARE, len(texts)) and not _values(scores):
                raise


def _values(scores: Sequence[Score]) -> list[float]:
    return [score.value for score in scores if score.fault is None]


def _faults(scores: Sequence[Score]) -> list[str]:
    return [score.fault for score in scores if score.fault is not None]


def _outcome(
    count: int, scores: Sequence[Score], limit: int, status: RerankStatus, reason: str | None
) -> RerankOutcome:
    positions = [position for position, score in enumerate(scores) if score.fault is None]
    ranking = sorted(positions, key=lambda position: -scores[position].value)
    if not all(scores[position].certain for position in ranking[:limit]):
        return unchanged(count, RerankStatus.UNCERTAIN, "the reranker is not certain about the best candidates")
    if len(positions) >= _ENOUGH_TO_COMPARE and scores[ranking[0]].value == scores[ranking[-1]].value:
        return unchanged(count, RerankStatus.UNCERTAIN, "the reranker gives all candidates one score")
    behind = [position for position in range(count) if position >= len(scores) or scores[position].fault is not None]
    values = {position: scores[position].value for position in positions}
    return RerankOutcome([*ranking, *behind], status, reason, values, faults=_faults(scores))
