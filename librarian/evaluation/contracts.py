"""Reports of the evaluation. Everything but `latency_ms` is the same each time for the same graph, data and seed."""

import msgspec
from msgspec import Struct, field

Metrics = dict[str, float]

DEFAULT_SYSTEMS = ("vector", "keyword", "hybrid", "bm25", "encoder", "rrf60")
"""The systems that an evaluation compares."""
DEFAULT_LIMIT = 20
"""How many hits a system may return."""
DEFAULT_K = 10
"""How many hits of two systems are compared."""


class SystemReport(Struct, kw_only=True):
    """One system on one data set: metric -> mean over its questions, over all and by category.

    `latency_ms` has p50 and p95 of one search; `notes` what an arm or the reranker could not do.
    """

    system: str
    overall: Metrics
    by_category: dict[str, Metrics]
    latency_ms: Metrics
    notes: list[str] = msgspec.field(default_factory=list)


class Comparison(Struct, kw_only=True):
    """Two systems on the same questions: the mean of b - a in one metric with its 95 % interval, and the share of the
    resamples in which b is ahead. `resampled` says what was drawn: question, or group (conversation, article, user).
    """

    a: str
    b: str
    metric: str
    resampled: str
    difference: float
    low: float
    high: float
    b_ahead: float


class FoldReport(Struct, kw_only=True):
    """One conversation left out: metrics there with the weights as they are, and with those tuned on the others."""

    left_out: str
    questions: int
    as_is: Metrics
    tuned: Metrics
    weights: Metrics


class WeightsReport(Struct, kw_only=True):
    """Folds of each data set."""

    datasets: dict[str, list[FoldReport]]


class DatasetReport(Struct, kw_only=True):
    """One data set. `corpora` counts the units (turns, sessions, paragraphs or items) that a question chooses from:
    the smallest and largest namespace, and how many there are. A recall says nothing without them.
    """

    dataset: str
    unit: str
    corpora: dict[str, int]
    questions: int
    unanswerable: int
    categories: dict[str, int]
    systems: list[SystemReport] = msgspec.field(default_factory=list)
    comparisons: list[Comparison] = msgspec.field(default_factory=list)


class EvalReport(Struct, kw_only=True):
    """The whole evaluation: what it was made with, and a report for each data set."""

    version: str
    encoder: str
    reranker: str
    seed: int
    limit: int
    datasets: list[DatasetReport]
    notes: list[str] = msgspec.field(default_factory=list)


class ChangedQuery(Struct, kw_only=True):
    """A query whose hits differ, with what only one of the two systems shows."""

    namespace: str
    query: str
    overlap: float
    only_a: list[str]
    only_b: list[str]


class ReplayReport(Struct, kw_only=True):
    """Two systems asked the same queries: how much of their first k hits they share.

    `overlap` (0..1) is the mean share of common hits, `identical` the share of queries with the same hits in the same
    order, `first` with the same first hit, `correlation` the mean of Kendall's tau (-1..1) over common hits, `empty` of
    each system the share of queries without any hit; `changed` names the queries that differ most. `skipped` logged
    ones could not be asked again.
    """

    a: str
    b: str
    k: int
    queries: int
    skipped: int
    overlap: float
    identical: float
    first: float
    correlation: float | None
    empty: Metrics
    latency_ms: dict[str, Metrics]
    changed: list[ChangedQuery] = msgspec.field(default_factory=list)


class SpaceComparison(Struct, kw_only=True):
    """Two spaces searched side by side: what they share on given or logged queries, and the quality of each on labelled
    data, by space.
    """

    queries: ReplayReport | None = None
    labelled: dict[str, EvalReport] = {}
    notes: list[str] = []


class EdgeScores(Struct, kw_only=True):
    """How well edges are found. An edge is right when its relation and its direction are.

    `edges` are what the data holds, `claimed` what was found, `right` what was found and is so. `precision` is
    right / claimed, `recall` right / edges; either is null when there is nothing to divide by.
    """

    edges: int
    claimed: int
    right: int
    precision: float | None
    recall: float | None


class KindScores(EdgeScores, kw_only=True):
    """Scores of the pairs of one kind, of which `pairs_without` have no causal edge, `false_alarms` of them claimed."""

    pairs: int
    pairs_without: int
    false_alarms: int


class CausalEvalReport(Struct, kw_only=True):
    """Typed edges (CAUSES, BLOCKS, ENABLES) found between texts that are read together, as a sweep reads memories.

    `typed` and `relations` count proposed edges too, `accepted` and `pair_kinds` only those sure enough to be written
    without a human.
    """

    file: str
    pairs: int
    typed: EdgeScores
    accepted: EdgeScores
    relations: dict[str, EdgeScores]
    pair_kinds: dict[str, KindScores]


class EvidenceScores(Struct, kw_only=True):
    """How well sets of evidence are selected, as means over questions.

    `mean_set_ratio` is the size of the selected set by that of the labelled one, `mean_searches` counts calls of the
    search tool.
    """

    questions: int
    precision: float
    recall: float
    f1: float
    mean_set_ratio: float
    mean_searches: float


class EvidenceSystem(EvidenceScores, kw_only=True):
    """Scores of one system over all questions, and by data set. `mean_step_ms` is what a step of the agent takes
    without the time of the search tool; null without an agent.
    """

    datasets: dict[str, EvidenceScores]
    mean_step_ms: float | None = None


class EvidenceEvalReport(EvidenceSystem, kw_only=True):
    """The heuristic agent's scores, and beside them those of every system."""

    systems: dict[str, EvidenceSystem]
    notes: list[str] = msgspec.field(default_factory=list)


class ContextScores(Struct, kw_only=True):
    """Context packs of labelled questions. Of the answerable ones: `held` is the mean share (0..1) of what answers that
    stands in the pack, `whole` the share of packs that hold all of it, `supported` the share of packs that claim to
    answer; `unanswerable_supported` is that of the questions without an answer. Tokens are those of all packs.
    """

    questions: int
    held: float
    whole: float
    by_category: dict[str, float]
    mean_tokens: float
    most_tokens: int
    supported: float
    unanswerable: int
    unanswerable_supported: float


class ContextEvalReport(Struct, kw_only=True):
    """Scores by data set, of packs of at most `max_tokens` tokens."""

    max_tokens: int
    datasets: dict[str, ContextScores]


class FindScores(Struct, kw_only=True):
    """Finding files by one form of their names: share whose first path is right, and milliseconds."""

    queries: int
    top1: float
    p50_ms: float
    p95_ms: float


class QuestionScores(Struct, kw_only=True):
    """Of how many questions a right file comes first, and among the first three; `missed` names those without."""

    questions: int
    top1: float
    top3: float
    missed: list[str]


class FilesEvalReport(Struct, kw_only=True):
    """Search of a tree against ripgrep, and of files by name.

    `equal_share` of the queries gave the very lines of `rg -n -F`, by path and number, in files whose contents are
    stored; `different` names some others. `speedup_vs_ripgrep` is the median, over the queries, of ripgrep's time by
    ours, each query asked of both in turn. `mb_per_s` is None where the tree was indexed before.
    """

    root: str
    files: int
    queries: int
    equal_share: float
    speedup_vs_ripgrep: float
    p50_ms: float
    p95_ms: float
    ripgrep_p50_ms: float
    ripgrep_p95_ms: float
    index_s: float
    mb_per_s: float | None = None
    different: list[str] = field(default_factory=list)
    find: dict[str, FindScores] = field(default_factory=dict)
    definitions: FindScores | None = None
    questions: QuestionScores | None = None
    notes: list[str] = field(default_factory=list)


class TypeScores(Struct, kw_only=True):
    """How well one type is recognised: texts `labelled` with it, texts it was `predicted` for; shares are null over
    nothing.
    """

    labelled: int
    predicted: int = msgspec.field(name="told")
    precision: float | None
    recall: float | None
    f1: float


class TypesEvalReport(Struct, kw_only=True):
    """Types predicted for labelled texts. `macro_f1` is the mean over the types that the file has.

    Auto-applied is what would be written without asking anybody: a confidence of .7 or more and a type that is not
    Unknown; `coverage` is its share of all texts, `sure_precision` counts Unknown in. `confusion` is label -> predicted
    type -> texts; `methods` counts what decided. `space` is the embedding space whose vectors were used, null for words
    alone.
    """

    file: str
    texts: int
    space: str | None
    macro_f1: float
    accuracy: float
    auto_applied: int
    auto_applied_precision: float | None
    coverage: float
    sure_precision: float | None
    types: dict[str, TypeScores]
    confusion: dict[str, dict[str, int]]
    methods: dict[str, int]
