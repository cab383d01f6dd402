"""Which hits stay: those near enough to the query, and those that nearness says nothing about. Pure functions.

A bound only removes hits, it brings no others in: fusion knows more of a hit than its vector does, so the order is left
alone, and of an adaptive bound only the lowest step removes anything (docs/decisions/0010).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from graph.types import FoundItem
from retrieval.arms import PlannedQuery
from retrieval.distinctive import Distinctive, distinctive, holds_distinctive
from retrieval.thresholds import Bound, Threshold, threshold_for
from retrieval.types import Exempt, ScoredItem

_READ = ("name", "text", "author_name", "caption", "subject", "object", "path")


@dataclass(frozen=True, slots=True)
class Remaining:
    """The hits that stay, in their order, those that do not, and the threshold; None where no query has a vector."""

    hits: Sequence[ScoredItem]
    below: Sequence[ScoredItem]
    threshold: Threshold | None


def remaining(
    hits: Sequence[ScoredItem], queries: Sequence[PlannedQuery], bound: Bound | None, *, limit: int
) -> Remaining:
    """What is left of `hits` (best first) with `bound`; the threshold is found on the first `limit` of them."""
    if bound is None or all(query.vector is None for query in queries):
        return Remaining(hits, [], None)
    terms = [distinctive(query.text) for query in queries]
    unread = {query.number for query in queries if query.vector is None}
    judged = [replace(hit, exempt=_exempt(hit, terms, unread)) for hit in hits]
    threshold = threshold_for(bound, [_to_judge(hit) for hit in judged[:limit]], limit=limit)
    stays = [(similarity := _to_judge(hit)) is None or similarity >= threshold.floor for hit in judged]
    return Remaining(
        [hit for hit, stay in zip(judged, stays, strict=True) if stay],
        [hit for hit, stay in zip(judged, stays, strict=True) if not stay],
        threshold,
    )


def _exempt(hit: ScoredItem, terms: Sequence[Distinctive], unread: set[int]) -> Exempt | None:
    """Why `hit` stays whatever its similarity; `unread` are the numbers of the queries without a vector."""
    if any(share.query in unread for share in hit.shares):
        return Exempt.UNREAD_QUERY
    if hit.similarity is None:
        return Exempt.NO_VECTOR
    return Exempt.WORDS if holds_distinctive(_read(hit.item), terms) else None


def _to_judge(hit: ScoredItem) -> float | None:
    return hit.similarity if hit.exempt is None else None


def _read(item: FoundItem) -> str:
    return " ".join(str(value) for name in _READ if (value := item.properties.get(name)))
