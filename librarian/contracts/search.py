"""Search: what is asked and what is answered."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from librarian.contracts.evidence import Evidence
from librarian.contracts.fields import Attribute, Kind, MemoryType, Namespace, Time
from librarian.contracts.filters import Filters
from retrieval.types import DEFAULT_FUSION_METHOD, DEFAULT_MULTI_QUERY_BOOST

FusionMethod = Literal["rrf", "score_sum", "score_max", "linear"]
Query = Annotated[str, Meta(min_length=1, max_length=1_000_000)]


class SearchInput(Struct, forbid_unknown_fields=True, kw_only=True):
    """One search: 1-20 queries fused into one ranking, cut to `limit` hits."""

    queries: Annotated[
        list[Query], Meta(min_length=1, max_length=20, description="What to find: one question in 1 to 20 wordings.")
    ]
    limit: Annotated[int, Meta(ge=1, le=50, description="How many hits at most.")] = 10
    fusion_method: Annotated[
        FusionMethod,
        Meta(
            description="How the rankings of arms and queries become one; linear also weighs author, time and session."
        ),
    ] = DEFAULT_FUSION_METHOD
    multi_query_boost: Annotated[
        float, Meta(ge=0, le=1, description="How much to favour what several queries find; 0: not at all.")
    ] = DEFAULT_MULTI_QUERY_BOOST
    enable_reranking: Annotated[
        bool, Meta(description="Let the reranker order the best candidates, where the service has one.")
    ] = True
    rerank_query: Annotated[
        Query | None, Meta(description="What the reranker is asked; the first query when left out.")
    ] = None
    filters: Filters | None = None
    explain: Annotated[bool, Meta(description="Say of each hit why it stands where it stands.")] = False


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
    """Why a hit stands where it stands; `signals` are those of the query that fits it best."""

    arms: list[ArmExplanation]
    signals: list[SignalExplanation]
    fused_score: float
    merged_duplicates: list[str]


class Hit(Struct, kw_only=True, omit_defaults=True):
    """One result. `score` orders the list (relative, method-dependent), unless a reranker did: then `rerank_score`
    (0..1) does, and what it did not score stands behind. `similarity_score` is the cosine of the best query and passage
    (-1..1), null where the item has no vector in the active space.
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
    look at the indexes could not fill the limit, one when a reranker could not order the hits. `timings_ms` tells the
    milliseconds of each stage with `explain`.
    """

    namespace: Namespace
    queries: list[str]
    results: list[Hit]
    arms: dict[str, str]
    reranked: bool
    notes: list[str]
    timings_ms: dict[str, float] | None = None
