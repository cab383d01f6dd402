"""Reports of the evaluation, reproducible for the same graph, data and seed, except `latency_ms`."""

import msgspec
from msgspec import Struct, field

Metrics = dict[str, float]

DEFAULT_SYSTEMS = ("vector", "keyword", "hybrid", "bm25", "encoder", "rrf60")
"""Default systems of an evaluation."""
DEFAULT_LIMIT = 20
"""Maximum number of hits of a system."""
DEFAULT_K = 10
"""Number of hits compared between two systems."""


class SystemReport(Struct, kw_only=True):
    """One system on one data set: metric -> mean over its questions, overall and by category.

    `latency_ms` has p50 and p95 of a search; `notes` report arms or a reranker that did not run.
    """

    system: str
    overall: Metrics
    by_category: dict[str, Metrics]
    latency_ms: Metrics
    notes: list[str] = msgspec.field(default_factory=list)


class Comparison(Struct, kw_only=True):
    """Two systems on the same questions: the mean of b - a in one metric with its 95 % interval, and the share of
    resamples in which b is ahead. `resampled` is the unit drawn: question, or group (conversation, article, user).
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
    """One held-out conversation: its metrics with the current weights, and with those tuned on the others."""

    left_out: str
    questions: int
    as_is: Metrics
    tuned: Metrics
    weights: Metrics


class WeightsReport(Struct, kw_only=True):
    """Folds of each data set."""

    datasets: dict[str, list[FoldReport]]


class DatasetReport(Struct, kw_only=True):
    """One data set. `corpora` counts the units (turns, sessions, paragraphs or items) that a question chooses from, for
    the smallest and largest namespace, and the namespaces. Recall is meaningless without them.
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
    """The whole evaluation: its setup, and a report for each data set."""

    version: str
    encoder: str
    reranker: str
    seed: int
    limit: int
    datasets: list[DatasetReport]
    notes: list[str] = msgspec.field(default_factory=list)


class ChangedQuery(Struct, kw_only=True):
    """A query whose hits differ, with those that only one of the systems found."""

    namespace: str
    query: str
    overlap: float
    only_a: list[str]
    only_b: list[str]


class ReplayReport(Struct, kw_only=True):
    """Two systems on the same queries: the overlap of their first k hits.

    `overlap` (0..1) is the mean share of common hits, `identical` the share of queries with the same hits in the same
    order, `first` with the same first hit, `correlation` the mean of Kendall's tau (-1..1) over common hits, `empty` of
    each system the share of queries without hits; `changed` names the queries that differ most. `skipped` logged ones
    could not be repeated.
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
    """Two spaces compared: their overlap on given or logged queries, and the quality of each on labelled data."""

    queries: ReplayReport | None = None
    labelled: dict[str, EvalReport] = {}
    notes: list[str] = []


class EdgeScores(Struct, kw_only=True):
    """Quality of the edges found. An edge is right if its relation and direction are.

    `edges` counts the labelled ones, `claimed` those found, `right` those found correctly. `precision` is right /
    claimed, `recall` right / edges; null if the divisor is 0.
    """

    edges: int
    claimed: int
    right: int
    precision: float | None
    recall: float | None


class KindScores(EdgeScores, kw_only=True):
    """Scores of one kind of pairs; `pairs_without` have no causal edge, though one was claimed for `false_alarms`."""

    pairs: int
    pairs_without: int
    false_alarms: int


class CausalEvalReport(Struct, kw_only=True):
    """Typed edges (CAUSES, BLOCKS, ENABLES) found between texts that are read together, as a sweep reads memories.

    `typed` and `relations` include proposed edges; `accepted` and `pair_kinds` only those confident enough to be
    written without review.
    """

    file: str
    pairs: int
    typed: EdgeScores
    accepted: EdgeScores
    relations: dict[str, EdgeScores]
    pair_kinds: dict[str, KindScores]


class EvidenceScores(Struct, kw_only=True):
    """Quality of the selected sets of evidence, as means over questions.

    `mean_set_ratio` is the size of the selected set divided by that of the labelled one; `mean_searches` counts calls
    of the search tool.
    """

    questions: int
    precision: float
    recall: float
    f1: float
    mean_set_ratio: float
    mean_searches: float


class EvidenceSystem(EvidenceScores, kw_only=True):
    """Scores of one system over all questions, and by data set. `mean_step_ms` is the time of a step of the agent
    without the search tool; null without an agent.
    """

    datasets: dict[str, EvidenceScores]
    mean_step_ms: float | None = None


class EvidenceEvalReport(EvidenceSystem, kw_only=True):
    """The heuristic agent's scores, and those of every system."""

    systems: dict[str, EvidenceSystem]
    notes: list[str] = msgspec.field(default_factory=list)


class ContextScores(Struct, kw_only=True):
    """Context packs of labelled questions. For answerable ones, `held` is the mean share (0..1) of the evidence in the
    pack, `whole` the share of packs with all of it, `supported` the share of packs that claim to answer;
    `unanswerable_supported` is the latter for questions without an answer. Tokens cover all packs.
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
    """Scores by data set, for packs of at most `max_tokens` tokens."""

    max_tokens: int
    datasets: dict[str, ContextScores]


class FindScores(Struct, kw_only=True):
    """Finding files by one form of their names: the share whose first path is right, and milliseconds."""

    queries: int
    top1: float
    p50_ms: float
    p95_ms: float


class QuestionScores(Struct, kw_only=True):
    """Shares of questions with a right file first, and among the first three; `missed` names the others."""

    questions: int
    top1: float
    top3: float
    missed: list[str]


class FilesEvalReport(Struct, kw_only=True):
    """Text search of a tree compared with ripgrep, and file search by name.

    `equal_share` of the queries gave exactly the lines of `rg -n -F`, by path and number, in files whose contents are
    stored; `different` names some others. `speedup_vs_ripgrep` is the median over the queries of ripgrep's time divided
    by ours, with each query run on both in turn. `mb_per_s` is None if the tree was already indexed.
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
    """Quality for one type: texts `labelled` with it, texts it was `predicted` for; shares are null for divisor 0."""

    labelled: int
    predicted: int = msgspec.field(name="told")
    precision: float | None
    recall: float | None
    f1: float


class TypesEvalReport(Struct, kw_only=True):
    """Types predicted for labelled texts. `macro_f1` is the mean over the types in the file.

    Auto-applied types would be written without review: a confidence of .7 or more and not Unknown; `coverage` is their
    share of all texts, `sure_precision` includes Unknown. `confusion` is label -> predicted type -> texts; `methods`
    counts the deciding methods. `space` is the embedding space whose vectors were used, null for words alone.
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
