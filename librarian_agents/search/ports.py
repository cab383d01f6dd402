"""The ports of the search agent: the search tool, the reasoner, and the scoring of texts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from librarian_agents.search.limits import Budget
from librarian_agents.search.types import Candidate, Evaluation, EvidenceTask, Findings


class SearchTool(Protocol):
    """The owner and searcher of the documents."""

    async def search(self, query: str) -> Sequence[Candidate]:
        """Return the candidates, best first; their number is the tool's choice.

        Within one request a temp_index always names the same text. Raises ToolRetry for temporary errors, ToolFailed
        for permanent ones.
        """


class Reasoner(Protocol):
    """Decides what to search for and what counts as evidence. Keeps nothing between calls."""

    @property
    def name(self) -> str:
        """The kind of reasoner, for reports."""

    async def plan(self, task: EvidenceTask, budget: Budget, /) -> Sequence[str]:
        """Return the first queries, 1-4."""

    async def evaluate(self, task: EvidenceTask, findings: Findings, budget: Budget, /) -> Evaluation:
        """Return the evidence for each target item; every quote occurs in the text of its candidate."""

    async def refine(
        self, task: EvidenceTask, findings: Findings, evaluation: Evaluation, budget: Budget, /
    ) -> Sequence[str]:
        """Return new queries for missing items; empty if nothing is left to try."""


class Similarity(Protocol):
    """Semantic similarity of texts to queries, by an encoder."""

    async def __call__(self, queries: Sequence[str], texts: Sequence[str]) -> Sequence[Sequence[float]] | None:
        """Return a row per query with a column per text, each 0..1; None without an encoder that can read them."""


class Answering(Protocol):
    """How well texts answer a question, by the answering model of the search."""

    def __call__(self, question: str, texts: Sequence[tuple[str, str]], /) -> Sequence[Mapping[str, float]]:
        """Return named signals (0..1) for and against each text, given as its source and its words."""


def untranslated(_text: str) -> str:
    """Return nothing: the default without a second language."""
    return ""


@dataclass(frozen=True, slots=True)
class Scoring:
    """Functions for scoring texts, injected into the reasoner, which knows no language and no encoder.

    `terms` returns the topical words of a text in order, comparable between texts; `is_question` says whether a text
    asks rather than states; `answering` scores texts as answers; `similarity` is None, or returns None, if the texts
    cannot be read; `translated` returns words in the other language (English or Japanese), or an empty text if it knows
    none.
    """

    terms: Callable[[str], Sequence[str]]
    is_question: Callable[[str], bool]
    answering: Answering
    similarity: Similarity | None = None
    translated: Callable[[str], str] = untranslated
