"""The memory agent's searches: one input, and an output a kind of item."""

from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from librarian.contracts.evidence import Evidence
from librarian.contracts.fields import Attribute, MemoryType, Time
from librarian.contracts.filters import Filters
from librarian.contracts.search import (
    AdaptiveMax,
    AdaptiveMin,
    EnableReranking,
    Explain,
    Explanation,
    Fusion,
    MultiQueryBoost,
    Queries,
    RerankQuery,
    SimilarityThreshold,
    ThresholdExplanation,
)
from retrieval.thresholds import DEFAULT_MAX, DEFAULT_MIN

DEFAULT_MAX_FACTS = 10

Limit = Annotated[
    int,
    Meta(
        ge=1,
        le=50,
        description="How many hits at most; the service may be set to another default.",
        extra_json_schema={"default": DEFAULT_MAX_FACTS},
    ),
]
Adaptive = Annotated[
    bool,
    Meta(
        description="Lower the threshold until enough hits pass; sent as true it replaces similarity_threshold.",
        extra_json_schema={"default": True},
    ),
]


class SemanticSearchInput(Struct, forbid_unknown_fields=True, kw_only=True):
    """One search: 1-20 queries fused into one ranking, of which at most `limit` similar hits stay. What is UNSET is as
    the service is set; `adaptive_threshold` is true then, unless `similarity_threshold` is given.
    """

    queries: Queries
    limit: Limit | UnsetType = UNSET
    similarity_threshold: SimilarityThreshold | None = None
    adaptive_threshold: Adaptive | UnsetType = UNSET
    adaptive_threshold_max: AdaptiveMax = DEFAULT_MAX
    adaptive_threshold_min: AdaptiveMin = DEFAULT_MIN
    fusion_method: Fusion | UnsetType = UNSET
    multi_query_boost: MultiQueryBoost | UnsetType = UNSET
    enable_reranking: EnableReranking = True
    rerank_query: RerankQuery | None = None
    filters: Filters | None = None
    explain: Explain = False


class _Result(Struct, kw_only=True, omit_defaults=True, tag_field="kind"):
    """What every hit has: `similarity_score` is calibrated (0..1), null without a vector; `score` orders the list,
    unless `rerank_score` (0..1) does.
    """

    uid: str
    content: str
    similarity_score: float | None
    score: float
    rerank_score: float | None = None
    domain: str | None = None
    tags: list[str] = []
    explanation: Explanation | None = None


class FactResult(_Result, kw_only=True, omit_defaults=True, tag="fact"):
    """A fact, with the messages and parts of files that support it; `valid_to` is null while it holds."""

    subject: str | None
    predicate: str | None
    object: str | None
    fact_type: str | None
    person_id: str | None
    confidence: float | None
    valid_from: Time | None
    valid_to: Time | None
    evidence: list[Evidence]
    attributes: dict[str, Attribute] = {}


class MessageResult(_Result, kw_only=True, omit_defaults=True, tag="message"):
    """A message of a conversation."""

    message_id: str | None
    author_id: str | None
    author_name: str | None
    conversation_id: str | None
    sent_at: Time | None
    role: str | None = None
    session_id: str | None = None
    caption: str | None = None


class MemoryResult(_Result, kw_only=True, omit_defaults=True, tag="memory"):
    """A memory that an agent keeps."""

    type: MemoryType | None
    importance: int | None
    agent: str | None
    occurred_at: Time | None
    source: str | None = None


class ChunkResult(_Result, kw_only=True, omit_defaults=True, tag="file_chunk"):
    """A part of a file; lines count from 1."""

    path: str | None
    start_line: int | None
    end_line: int | None


class SemanticSearchOutput(Struct, kw_only=True, omit_defaults=True):
    """Hits best first. `threshold` is the similarity that they had to reach, after `iterations` steps; null and 0 where
    no query was read by an encoder. `arms` says what each arm of the search did ("ok" or "skipped: …"/"failed: …").
    """

    queries: list[str]
    results: list[Any]
    threshold: float | None
    iterations: int
    arms: dict[str, str]
    reranked: bool
    notes: list[str]
    threshold_explanation: ThresholdExplanation | None = None
    timings_ms: dict[str, float] | None = None


class FactSearchOutput(SemanticSearchOutput, kw_only=True, omit_defaults=True):
    """Facts, best first."""

    results: list[FactResult]


class MessageSearchOutput(SemanticSearchOutput, kw_only=True, omit_defaults=True):
    """Messages, best first."""

    results: list[MessageResult]


class MemorySearchOutput(SemanticSearchOutput, kw_only=True, omit_defaults=True):
    """Memories, best first."""

    results: list[MemoryResult]


class MixedSearchOutput(SemanticSearchOutput, kw_only=True, omit_defaults=True):
    """Items of all kinds in one ranking, best first."""

    results: list[FactResult | MessageResult | MemoryResult | ChunkResult]
