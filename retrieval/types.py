"""Requests, hits and explanations of the search pipeline."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from graph.item import Item
from graph.types import ItemFilter, Loss
from retrieval.answering import Judgement
from retrieval.defaults import DEFAULT_FUSION_METHOD, DEFAULT_MULTI_QUERY_BOOST, FusionMethod
from retrieval.fusion import Share, SignalShare
from retrieval.thresholds import Bound, Threshold

VECTOR = "vector"
KEYWORD = "keyword"
GRAPH = "graph"
BOTH_ARMS = frozenset({VECTOR, KEYWORD})


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """What to search: at least one query; `where` holds the namespace; `limit` hits at most; `arms` says which may
    answer (GRAPH only adds to what the others find). `spare` more hits are given where they are at hand, for a reranker
    to choose from. `multi_query_boost` (0..1) favours what several queries find; `weights` are those of linear fusion,
    None for the measured ones. `bound` says how similar a hit has to be; None: as fusion ranks them. `now` is
    the moment that the queries are asked at (None: the clock's). `explain`: hits tell what each signal added.
    """

    queries: Sequence[str]
    where: ItemFilter
    limit: int
    spare: int = 0
    arms: frozenset[str] = BOTH_ARMS
    fusion_method: FusionMethod = DEFAULT_FUSION_METHOD
    multi_query_boost: float = DEFAULT_MULTI_QUERY_BOOST
    weights: Mapping[str, float] | None = None
    bound: Bound | None = None
    now: datetime | None = None
    explain: bool = False


class Exempt(StrEnum):
    """Why a hit stays whatever its similarity: it holds a distinctive term or all topical words of a query; it has no
    vector yet; a query found it that has none.
    """

    WORDS = "words"
    NO_VECTOR = "no_vector"
    UNREAD_QUERY = "unread_query"


@dataclass(frozen=True, slots=True)
class Below:
    """A candidate that a threshold cost, and its similarity (0..1)."""

    uid: str
    similarity: float


@dataclass(frozen=True, slots=True)
class ScoredItem:
    """A hit: fused score (relative to this answer), calibrated similarity (0..1) and the cosine (-1..1) that it was
    made of, both to the query as asked (None without a vector), and where the score comes from. `exempt` is told only
    where a bound was to be kept. `judgement`: how well it answers, where linear fusion asked for that. `loss`:
    what leaves it unsupported; `replaced_by`: the fact that holds instead of what a message states.
    """

    item: Item
    score: float
    similarity: float | None
    shares: Sequence[Share]
    signals: Sequence[SignalShare] = ()
    duplicates: Sequence[str] = ()
    cosine: float | None = None
    exempt: Exempt | None = None
    judgement: Judgement | None = None
    loss: Loss | None = None
    replaced_by: str | None = None


class Overfetch(StrEnum):
    """What filled the limit when a first look at the indexes did not, or that nothing could."""

    DEEPER = "deeper"
    EXACT = "exact"
    EXHAUSTED = "exhausted"


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Hits best first; `arms` says of each arm "ok", "skipped: …" or "failed: …"; `notes` are for the caller.

    `threshold` is None where nothing had to be similar, or no query had a vector; `below` are the candidates that it
    cost, or that nothing spoke for, in their order. `overfetch` is None when a first look was enough. `timings_ms` has
    the stages encode, arms, traits, fuse, judge (in linear fusion), hydrate and, where that arm was asked for, graph,
    each summed up when a search looked more than once, and total.
    """

    hits: Sequence[ScoredItem]
    arms: Mapping[str, str]
    notes: Sequence[str]
    overfetch: Overfetch | None
    timings_ms: Mapping[str, float]
    threshold: Threshold | None = None
    below: Sequence[Below] = ()
