"""Reports of the evaluation. Everything but `latency_ms` is the same each time for the same graph, data and seed."""

import msgspec
from msgspec import Struct

Metrics = dict[str, float]


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
    """The same queries asked of two systems: how much of their first k hits they share.

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
