"""Search: what is asked and what is answered."""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from librarian.base.fields import DEFAULT_MAX_FACTS, AsOf, Attribute, Kind, KnownAt, MemoryType, Namespace, Time, Uid
from librarian.items.contracts import Evidence, Filters, Unsupported
from retrieval.defaults import DEFAULT_FUSION_METHOD, DEFAULT_MULTI_QUERY_BOOST, FusionMethod
from retrieval.thresholds import DEFAULT_MAX, DEFAULT_MIN

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
Now = Annotated[
    Time,
    Meta(description="The moment of the question, which words such as yesterday are seen from; now when left out."),
]
Explain = Annotated[bool, Meta(description="Say of each hit why it stands where it stands.")]


SearchedNamespaces = Annotated[
    list[Namespace],
    Meta(
        min_length=1,
        max_length=8,
        description="Search these together instead of the request's own namespace; each hit says where it is from.",
    ),
]


class SearchInput(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
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
    now: Now | None = None
    explain: Explain = False
    namespaces: SearchedNamespaces | None = None


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


class Cause(Struct, kw_only=True):
    """An item that led to a hit, as an accepted edge says: which one, the edge's type, the start of the item's text,
    and how sure the edge is (0..1).
    """

    uid: str
    kind: Kind
    type: Literal["CAUSES", "ENABLES"]
    text: str
    confidence: float


class Hit(Struct, kw_only=True, omit_defaults=True):
    """One result. `score` orders the list (relative, method-dependent), unless a reranker did: then `rerank_score`
    (0..1) does, and what it did not score stands behind. `similarity_score` (0..1) is the calibrated similarity of the
    best query and passage, null where the item has no vector in the active space. `led_by` are items that led to it.
    `unsupported`: nothing supports it any more; `superseded_by`: the fact that holds instead of what a message states.
    `namespace` is given in a search of several, where `score` orders the hits of each: over all of them
    `rerank_score` does, else `similarity_score`.
    """

    namespace: Namespace | None = None
    uid: str
    kind: Kind
    score: float
    similarity_score: float | None
    rerank_score: float | None = None
    content: str
    occurred_at: Time | None = None
    created_at: Time | None = None
    updated_at: Time | None = None
    domain: str | None = None
    tags: list[str] = []
    attributes: dict[str, Attribute] = {}
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
    led_by: list[Cause] = []
    unsupported: Unsupported | None = None
    superseded_by: str | None = None
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


class SemanticSearchInput(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
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
    now: Now | None = None
    explain: Explain = False


class _Result(Struct, kw_only=True, omit_defaults=True, tag_field="kind"):
    """What every hit has: `similarity_score` is calibrated (0..1), null without a vector; `score` orders the list,
    unless `rerank_score` (0..1) does. `led_by` are items that led to it, as accepted edges say.
    `unsupported`: nothing supports it any more; `superseded_by`: the fact that holds instead of what a message states.
    """

    uid: str
    content: str
    similarity_score: float | None
    score: float
    rerank_score: float | None = None
    domain: str | None = None
    tags: list[str] = []
    led_by: list[Cause] = []
    unsupported: Unsupported | None = None
    superseded_by: str | None = None
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


DEFAULT_MAX_HITS = 30
MAX_HITS = 50

Question = Annotated[str, Meta(min_length=1, max_length=100_000, description="The question, in any language.")]
MaxHits = Annotated[int, Meta(ge=1, le=MAX_HITS, description="How many hits at most.")]
AnswerOverQuestion = Annotated[
    bool, Meta(description="Prefer what tells over what asks; false leaves the order of the search.")
]


class RelevantInput(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """What is asked, and how many messages, memories and facts to get for it."""

    query: Question
    max_hits: MaxHits = DEFAULT_MAX_HITS
    answer_over_question: AnswerOverQuestion = True
    now: Now | None = None
    as_of: AsOf | None = None
    known_at: KnownAt | None = None


AnswerVerdict = Literal["answers", "shares topic", "repeats the question", "says that nobody knows", "gives orders"]


class MemoryHit(Struct, kw_only=True, frozen=True):
    """A message, memory or fact that helps to answer.

    `score` is its similarity to the query (0 where it was found by words alone), adjusted by up to a tenth for how
    likely it answers; hits stand in the order of `relevance` (0..1), unless a reranker ordered them: then
    `rerank_score` (0..1) does, and what it did not score stands behind. `sent_at` is when it was sent or happened;
    `author_name` of a memory is its agent. `valid_to`: when a fact ceased to hold; `superseded_by`: the uid of a later
    statement about the same. `verdict` says what it does with the question, `support` (0..1) how well it is backed by
    the question's own words and meaning, and `passage` is its sentence that answers best. `led_by` are items that led
    to it, as accepted edges say. `unsupported`: nothing that it rests on stands any more.
    """

    uid: str
    kind: Kind
    content: str
    score: float
    message_id: str | None = None
    role: str | None = None
    author_name: str | None = None
    sent_at: Time | None = None
    valid_to: Time | None = None
    superseded_by: str | None = None
    verdict: AnswerVerdict | None = None
    support: float | None = None
    relevance: float | None = None
    rerank_score: float | None = None
    passage: str | None = None
    led_by: list[Cause] = []
    unsupported: Unsupported | None = None


class RelevantOutput(Struct, kw_only=True):
    """The hits, best first; `arms` says what each arm of the search did ("ok" or "skipped: …"/"failed: …"), `reranked`
    whether a reranker ordered the hits, `now` the moment that the question was seen from.
    """

    namespace: Namespace
    query: str
    hits: list[MemoryHit]
    arms: dict[str, str]
    notes: list[str]
    reranked: bool = False
    now: Time | None = None


DEFAULT_CONTEXT_TOKENS = 2_000


class ContextInput(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """What a model is to be asked, and how many tokens it may be given for that."""

    query: Question
    max_tokens: Annotated[
        int, Meta(ge=100, le=100_000, description="How many tokens the text has at most, as `counted_by` says.")
    ] = DEFAULT_CONTEXT_TOKENS
    now: Now | None = None
    as_of: AsOf | None = None
    known_at: KnownAt | None = None


class ContextItem(Struct, kw_only=True):
    """What `[memory: id]` in the text stands for. `hit`: the search found it; else it makes a hit understood."""

    id: str
    uid: str
    hit: bool


class ContextOutput(Struct, kw_only=True):
    """What a model should be given: a line an item, with its date, its author and `[memory: id]`, best first.

    The first line says when nothing in it answers the question (`supported` is false then). `tokens` are those of the
    text, never more than `max_tokens`; `counted_by` says how they are counted. `items` are the lines in their order.
    """

    namespace: Namespace
    query: str
    text: str
    tokens: int
    max_tokens: int
    counted_by: str
    supported: bool
    items: list[ContextItem]
    arms: dict[str, str]
    reranked: bool
    notes: list[str]


Status = Literal["answered", "refused"]
Method = Literal["llm", "extractive"]


class AnswerInput(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """A question, and how many hits may serve as evidence."""

    query: Question
    max_hits: MaxHits = DEFAULT_MAX_HITS
    answer_over_question: AnswerOverQuestion = True
    now: Now | None = None
    as_of: AsOf | None = None
    known_at: KnownAt | None = None


class Citation(Struct, kw_only=True):
    """What `[memory: id]` in the text stands for."""

    id: str
    uid: str


class AnswerOutput(Struct, kw_only=True):
    """An answer out of the hits, every statement with `[memory: ID]`; each ID is one of `citations`.

    `method` is `llm` for a language model's words, `extractive` for sentences quoted from the hits. `refused`: the hits
    support no answer, `text` is empty and `reason` says why. `invented_citations` named no hit and were taken out of
    the text; `uncited_sentences` stand in it without a citation. `notes` tell what could not be done as asked.
    """

    namespace: Namespace
    query: str
    status: Status
    method: Method
    text: str
    citations: list[Citation]
    hits: list[MemoryHit]
    reason: str | None = None
    model: str | None = None
    invented_citations: list[str] = []
    uncited_sentences: list[str] = []
    notes: list[str] = []


class AnswerHits(Struct, kw_only=True):
    """The evidence, before the answer."""

    hits: list[MemoryHit]


class AnswerDelta(Struct, kw_only=True):
    """The next piece of the text, its citations checked."""

    text: str


AnswerEvent = AnswerHits | AnswerDelta | AnswerOutput
"""What a streamed answer consists of: the hits, pieces of text, and last the whole answer, which alone counts."""


Verdict = Literal[
    "found",
    "filtered",
    "superseded",
    "below_threshold",
    "duplicate",
    "cut_by_limit",
    "not_embedded",
    "outside_pool",
]


class WhyNotInput(SearchInput, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """The search as it was made, and the item that it was to find."""

    uid: Uid


class ArmStandingOut(Struct, kw_only=True):
    """Where one arm has the item for one query (counted from 0): `rank` from 1 among everything that passes the
    filters, or null and the `reason`. `score` is the cosine (-1..1) in the vector arm, null in the keyword arm.
    """

    query: int
    arm: Literal["vector", "keyword"]
    rank: int | None
    score: float | None = None
    reason: str | None = None


class WhyNotOutput(Struct, kw_only=True):
    """What became of the item, and why.

    `rank` is its place among the hits when it is found, else among all candidates before the cut, null when it is none.
    `filters` names those it does not pass, `superseded_by` the facts that replace it, `duplicate_of` the hit that says
    the same; `threshold` is what its similarity would have had to reach.
    """

    namespace: Namespace
    uid: Uid
    verdict: Verdict
    explanation: str
    rank: int | None = None
    filters: list[str] = []
    superseded_by: list[Uid] = []
    duplicate_of: Uid | None = None
    similarity_score: float | None = None
    threshold: float | None = None
    arms: list[ArmStandingOut] = []
