"""The report of `librarian eval evidence`."""

import msgspec
from msgspec import Struct


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
