"""Reranking the best candidates of a search, from the top, for as long as it can change what is shown."""

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
    """What became of a rerank; after the first three the order is the reranker's, after the others the fused one."""

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

    `reason` says why not all candidates were scored, or why the fused order stays; None after COMPLETE. `error_code`
    is that of the RerankerError behind FAILED, `faults` are those of single texts, which cost only their own scores.
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
    """The outcome that leaves `count` candidates in their fused order."""
    return RerankOutcome(range(count), status, reason, error_code=error_code)


def pool_size(count: int, *, limit: int, oversample: float = OVERSAMPLE, cap: int = MAX_CANDIDATES) -> int:
    """How many of `count` candidates are worth scoring for `limit` hits: `oversample` for each, at most `cap`; 0 when
    nothing could come into the hits that is not there already.
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

    They are scored from the top, a batch at a time, until all are, or the first `limit` are settled, or `deadline_s`
    seconds have passed. What was scored stands before what was not, which keeps the fused order. A text that the
    reranker fails at costs its own score alone. The fused order stays as a whole when it fails at all of them, has
    scored nothing in time, or says nothing certain about those that would be shown, or gives everything one score.
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
        reason = f"scored {size - lost} of {size}: the reranker fails at the others"
        return _outcome(len(texts), scores, limit, RerankStatus.PARTIAL, reason)
    return _outcome(len(texts), scores, limit, RerankStatus.COMPLETE, None)


def is_settled(values: Sequence[float], limit: int) -> bool:
    """Whether the first `limit` are taken as final: the last `limit` candidates scored all stay behind the best `limit`
    of those before them.

    A rule of thumb, no proof: where as many candidates in a row as are shown brought nothing, the rest, which fusion
    holds for worse still, is left alone.
    """
    if len(values) < 2 * limit:
        return False
    shown = sorted(values[:-limit], reverse=True)[:limit]
    return max(values[-limit:]) < shown[-1]


def candidate_text(item: Item) -> str:
    """What a reranker reads of an item: a fact as a sentence, a message with its author, anything else as it is."""
    if isinstance(item, Fact) and item.predicate:
        return " ".join(part for part in (item.subject, item.predicate, item.object) if part)
    if isinstance(item, Message):
        return f"{item.author_name or UNKNOWN_AUTHOR}: {item.text}"
    return item.text


async def _score(reranker: Reranker, query: str, texts: Sequence[str], scores: list[Score], limit: int) -> None:
    """Append scores of `texts` to `scores`, batch by batch, until they settle.

    Where a whole batch fails, it may be its texts: the next is tried, unless nothing has been scored so far.
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
    given = [position for position, score in enumerate(scores) if score.fault is None]
    ranking = sorted(given, key=lambda position: -scores[position].value)
    if not all(scores[position].certain for position in ranking[:limit]):
        return unchanged(count, RerankStatus.UNCERTAIN, "the reranker is not certain about the best candidates")
    if len(given) >= _ENOUGH_TO_COMPARE and scores[ranking[0]].value == scores[ranking[-1]].value:
        return unchanged(count, RerankStatus.UNCERTAIN, "the reranker gives all candidates one score")
    behind = [position for position in range(count) if position >= len(scores) or scores[position].fault is not None]
    values = {position: scores[position].value for position in given}
    return RerankOutcome([*ranking, *behind], status, reason, values, faults=_faults(scores))
