"""Decides which candidates stay: those near enough to the query, and those that nearness cannot judge. Pure functions.

A bound only removes candidates and never adds any: fusion knows more about one than its vector does, so the order is
left alone, and of an adaptive bound only the lowest step removes anything (docs/decisions/0010). It applies to the
whole pool; the limit is filled from what stays.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from retrieval.arms import PlannedQuery
from retrieval.distinctive import Distinctive, distinctive, holds_distinctive
from retrieval.fusion import Fused
from retrieval.sentences import Passage
from retrieval.thresholds import AdaptiveBound, Bound, Threshold, threshold_for
from retrieval.types import Below, Exempt


@dataclass(frozen=True, slots=True)
class Near:
    """A candidate with the inputs of a bound: its similarity (0..1, None without a vector) and its text."""

    entry: Fused
    similarity: float | None
    passage: Passage = field(repr=False)
    exempt: Exempt | None = None


@dataclass(frozen=True, slots=True)
class Remaining:
    """The candidates that stay and those that do not, in order, and the threshold; None if no query has a vector.

    `exempt` tells for some that stay why they were not judged.
    """

    kept: Sequence[Near]
    below: Sequence[Below]
    threshold: Threshold | None

    def only(self, stays: Sequence[bool]) -> "Remaining":
        """Return a copy that moves entries of `kept` whose flag in `stays` is false to `below`, in order."""
        kept = [near for near, stay in zip(self.kept, stays, strict=True) if stay]
        left = [near for near, stay in zip(self.kept, stays, strict=True) if not stay]
        below = [Below(near.entry.uid, near.similarity or 0.0) for near in left]
        return Remaining(kept, [*self.below, *below], self.threshold)


def remaining(pool: Sequence[Near], queries: Sequence[PlannedQuery], bound: Bound | None, *, limit: int) -> Remaining:
    """Apply `bound` to `pool` (best first).

    Holding a distinctive term of a query exempts from an adaptive bound only: a caller's own threshold applies to
    everything that has a vector.
    """
    if bound is None or all(query.vector is None for query in queries):
        return Remaining(pool, [], None)
    terms = [distinctive(query.text) for query in queries] if isinstance(bound, AdaptiveBound) else []
    without_vector = {query.number for query in queries if query.vector is None}
    judged = [Near(near.entry, near.similarity, near.passage, _exempt(near, terms, without_vector)) for near in pool]
    threshold = threshold_for(bound, [_to_judge(near) for near in judged], limit=limit)
    stays = [(similarity := _to_judge(near)) is None or similarity >= threshold.floor for near in judged]
    return Remaining(judged, [], threshold).only(stays)


def _exempt(near: Near, terms: Sequence[Distinctive], without_vector: set[int]) -> Exempt | None:
    """Return why a candidate stays whatever its similarity; `without_vector` are the numbers of queries without one."""
    if any(share.query in without_vector for share in near.entry.shares):
        return Exempt.UNREAD_QUERY
    if near.similarity is None:
        return Exempt.NO_VECTOR
    return Exempt.WORDS if holds_distinctive(near.passage.whole, terms) else None


def _to_judge(near: Near) -> float | None:
    return near.similarity if near.exempt is None else None
