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
    """A search: at least one query; `where` holds the namespace; at most `limit` hits; `arms` may answer (GRAPH only
    adds to what the others find). Up to `spare` more hits are returned if at hand, for a reranker to choose from.
    `multi_query_boost` (0..1) favours what several queries find; `weights` are those of linear fusion, None for the
    measured ones. `bound` is the required similarity; None: as fusion ranks them. `now` is when the queries are asked
    (None: the clock's time). `explain`: hits list each signal's share.
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
    vector yet; or it was found by a query without one.
    """

    WORDS = "words"
    NO_VECTOR = "no_vector"
    UNREAD_QUERY = "unread_query"


@dataclass(frozen=True, slots=True)
class Below:
    """A candidate removed by a threshold, and its similarity (0..1)."""

    uid: str
    similarity: float


@dataclass(frozen=True, slots=True)
class ScoredItem:
    """A hit: fused score (relative to this result), calibrated similarity (0..1) and the underlying cosine (-1..1),
    both to the query as asked (None without a vector), and the sources of the score. `exempt` is set only if a bound
    applied. `judgement`: how well it answers, if linear fusion asked for that. `loss`: what leaves it unsupported;
    `replaced_by`: the fact that holds instead of what a message states.
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
    """How the limit was filled when a first look at the indexes did not suffice, or that it could not be."""

    DEEPER = "deeper"
    EXACT = "exact"
    EXHAUSTED = "exhausted"


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Hits best first; `arms` maps each arm to "ok", "skipped: …" or "failed: …"; `notes` are for the caller.

    `threshold` is None if no similarity was required, or no query had a vector; `below` are the candidates removed by
    it or for lack of support, in order. `overfetch` is None if a first look was enough. `timings_ms` has the stages
    encode, arms, traits, fuse, judge (in linear fusion), hydrate and, if that arm was requested, graph, each summed
    over repeated looks, and total.
    """

    hits: Sequence[ScoredItem]
    arms: Mapping[str, str]
    notes: Sequence[str]
    overfetch: Overfetch | None
    timings_ms: Mapping[str, float]
    threshold: Threshold | None = None
    below: Sequence[Below] = ()
