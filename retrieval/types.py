"""Requests, hits and explanations of the search pipeline."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from graph.types import FoundItem, ItemFilter
from retrieval.fusion import Share

VECTOR = "vector"
KEYWORD = "keyword"
BOTH_ARMS = frozenset({VECTOR, KEYWORD})


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """What to search: at least one query; `where` holds the namespace; `limit` hits at most; `arms` says which may
    answer.
    """

    queries: Sequence[str]
    where: ItemFilter
    limit: int
    arms: frozenset[str] = BOTH_ARMS


@dataclass(frozen=True, slots=True)
class ScoredItem:
    """A hit: fused score (relative to this answer), cosine (-1..1, None without a vector), and where the score comes
    from.
    """

    item: FoundItem
    score: float
    similarity: float | None
    shares: Sequence[Share]
    duplicates: Sequence[str] = ()


class Overfetch(StrEnum):
    """What filled the limit when a first look at the indexes did not, or that nothing could."""

    DEEPER = "deeper"
    EXACT = "exact"
    EXHAUSTED = "exhausted"


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Hits best first; `arms` says of each arm "ok", "skipped: …" or "failed: …"; `notes` are for the caller.

    `overfetch` is None when a first look was enough. `timings_ms` has the stages encode, arms, fuse and hydrate, each
    summed up when a search looked more than once, and total.
    """

    hits: Sequence[ScoredItem]
    arms: Mapping[str, str]
    notes: Sequence[str]
    overfetch: Overfetch | None
    timings_ms: Mapping[str, float]
