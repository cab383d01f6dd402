"""Search: what is asked and what is answered."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from librarian.contracts.evidence import Evidence
from librarian.contracts.fields import Attribute, Kind, MemoryType, Namespace, Time
from librarian.contracts.filters import Filters
from retrieval.thresholds import DEFAULT_MAX, DEFAULT_MIN
from retrieval.types import DEFAULT_FUSION_METHOD, DEFAULT_MULTI_QUERY_BOOST

FusionMethod = Literal["rrf", "score_sum", "score_max", "linear"]
Query = Annotated[str, Meta(min_length=1, max_length=1_000_000)]

Queries = Annotated[
    list[Query], Meta(min_length=1, max_length=20, description="What to find: one question in 1 to 20 wordings.")
]
SimilarityThreshold = Annotated[
    float, Meta(ge=0, le=1, description="Drop hits less similar than this, 0 to 1; 0 keeps all.")
]
AdaptiveMax = Annotated[float, Meta(ge=0, le=1, description="Where an adaptive threshold starts.")]
AdaptiveMin = Annotated[
    float, Meta(ge=0, le=1, description="Where an adaptive threshold ends: what is less similar is dropped.")
]
Fusion = Annotated[
    FusionMethod,
    Meta(
        description="How the rankings of arms and queries become one; linear also weighs author, time and session.",
        extra_json_schema={"default": DEFAULT_FUSION_METHOD},
    ),
]
MultiQueryBoost = Annotated[
    float,
    Meta(
        ge=0,
        le=1,
        description="How much to favour what several queries find; 0: not at all.",
        extra_json_schema={"default": DEFAULT_MULTI_QUERY_BOOST},
    ),
]
EnableReranking = Annotated[
    bool, Meta(description="Let the reranker order the best candidates, where the service has one.")
]
RerankQuery = Annotated[
    str,
    Meta(min_length=1, max_length=1_000_000, description="What the reranker is asked; the first query when left out."),
]
Explain = Annotated[bool, Meta(description="Say of each hit why it stands where it stands.")]


class SearchInput(Struct, forbid_unknown_fields=True, kw_only=True):
    """One search: 1-20 queries fused into one ranking, cut to `limit` hits. What is UNSET is as the service is set.

    Without `similarity_threshold` and `adaptive_threshold` no hit has to be similar.
    """

    queries: Queries
    limit: Annotated[int, Meta(ge=1, le=50, description="How many hits at most.")] = 10
    similarity_threshold: SimilarityThreshold | None = None
    adaptive_threshold: Annotated[
        bool, Meta(description="Drop hits that are not similar, however few stay; not with similarity_threshold.")
    ] = False
    adaptive_threshold_max: AdaptiveMax = DEFAULT_MAX
    adaptive_threshold_min: AdaptiveMin = DEFAULT_MIN
    fusion_method: Fusion | UnsetType = UNSET
    multi_query_boost: MultiQueryBoost | UnsetType = UNSET
    enable_reranking: EnableReranking = True
    rerank_query: RerankQuery | None = None
    filters: Filters | None = None
    explain: Explain = False


class ArmExplanation(Struct, kw_only=True):
    """One arm's view of a hit for one query: `arm` is vector, keyword or files; rank from 1; share of the fused score.

    `score` is the cosine (-1..1) for the vector arm and null for the others (BM25 carries corpus statistics).
    """

    query: int
    arm: str
    rank: int
    score: float | None
    share: float


class SignalExplanation(Struct, kw_only=True):
    """What one signal added for one query: its value, and its share of the fused score (linear fusion only)."""

    query: int
    signal: str
    value: float
    share: float


class Explanation(Struct, kw_only=True):
    """Why a hit stands where it stands; `signals` are those of the query that fits it best.

    `cosine` (-1..1) is what `similarity_score` was made of. `exempt` says why a threshold does not apply to the hit: it
    holds a distinctive term or all the topical words of a query (words), it has no vector yet (no_vector), or a query
    found it that no encoder has read (unread_query).
    """

    arms: list[ArmExplanation]
    signals: list[SignalExplanation]
    fused_score: float
    merged_duplicates: list[str]
    cosine: float | None = None
    exempt: Literal["words", "no_vector", "unread_query"] | None = None


class ThresholdExplanation(Struct, kw_only=True):
    """Where a threshold comes from: it was given, the default, or adapted, and then converged or exhausted its steps.
    What every hit had to reach (`floor`), how many did not, and how many stay without being judged.
    """

    source: Literal["given", "default", "adaptive"]
    outcome: Literal["fixed", "converged", "exhausted"]
    floor: float
    dropped: int
    exempt: int


class Hit(Struct, kw_only=True, omit_defaults=True):
    """One result. `score` orders the list (relative, method-dependent), unless a reranker did: then `rerank_score`
    (0..1) does, and what it did not score stands behind. `similarity_score` (0..1) is the calibrated similarity of the
    best query and passage, null where the item has no vector in the active space.
    """

    uid: str
    kind: Kind
    score: float
    similarity_score: float | None
    rerank_score: float | None = None
    content: str
    occurred_at: Time | None = None
    domain: str | None = None
    tags: list[str] = []
    # message
    message_id: str | None = None
    author_id: str | None = None
    author_name: str | None = None
    role: str | None = None
    conversation_id: str | None = None
    session_id: str | None = None
    sent_at: Time | None = None
    caption: str | None = None
    # fact
    subject: str | None = None
    predicate: str | None = None
    object: str | None = None
    person_id: str | None = None
    fact_type: str | None = None
    fact_object: str | None = None
    relationship_type: str | None = None
    confidence: float | None = None
    valid_from: Time | None = None
    valid_to: Time | None = None
    attributes: dict[str, Attribute] = {}
    evidence: list[Evidence] = []
    # memory
    type: MemoryType | None = None
    importance: int | None = None
    agent: str | None = None
    source: str | None = None
    # file chunk
    path: str | None = None
    start_line: int | None = None
    end_line: int | None = None
    explanation: Explanation | None = None


class SearchOutput(Struct, kw_only=True):
    """The answer: hits best first, what each arm did ("ok" or "skipped: …"/"failed: …"), and remarks: one when a first
    look at the indexes could not fill the limit, one when a reranker could not order the hits. `threshold` is what the
    hits had to reach after `iterations` steps, null and 0 where they had not. `timings_ms` tells the milliseconds of
    each stage with `explain`.
    """

    namespace: Namespace
    queries: list[str]
    results: list[Hit]
    threshold: float | None = None
    iterations: int = 0
    arms: dict[str, str]
    reranked: bool
    notes: list[str]
    threshold_explanation: ThresholdExplanation | None = None
    timings_ms: dict[str, float] | None = None
