"""The ports of the search agent: the tool that searches, the reasoner that decides, and how texts are weighed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from librarian_agents.search.limits import Budget
from librarian_agents.search.types import Candidate, Evaluation, EvidenceTask, Findings


class SearchTool(Protocol):
    """Whoever owns the documents and searches them."""

    async def search(self, query: str) -> Sequence[Candidate]:
        """What was found, best first; how many is the tool's choice.

        Within one request a temp_index always names the same text. Raises ToolRetry for what may work later,
        ToolFailed for what will not.
        """


class Reasoner(Protocol):
    """Decides what to search for and what counts as evidence. Keeps nothing between calls."""

    @property
    def name(self) -> str:
        """Which kind it is, for reports."""

    async def plan(self, task: EvidenceTask, budget: Budget, /) -> Sequence[str]:
        """The first queries, 1-4."""

    async def evaluate(self, task: EvidenceTask, findings: Findings, budget: Budget, /) -> Evaluation:
        """What the findings hold of each target item; every quote stands in the text of its candidate."""

    async def refine(
        self, task: EvidenceTask, findings: Findings, evaluation: Evaluation, budget: Budget, /
    ) -> Sequence[str]:
        """Queries for what is still missing, none that was asked; empty when nothing is left to try."""


class Similarity(Protocol):
    """How near texts are in meaning to queries, by an encoder."""

    async def __call__(self, queries: Sequence[str], texts: Sequence[str]) -> Sequence[Sequence[float]] | None:
        """A row a query, a column a text, each 0..1; None without an encoder that can read them."""


class Answering(Protocol):
    """How well texts answer a question, by the model of answering that search uses."""

    def __call__(self, question: str, texts: Sequence[tuple[str, str]], /) -> Sequence[Mapping[str, float]]:
        """What speaks for and against each text, given as its source and its words: named signals of 0..1."""


def untranslated(_text: str) -> str:
    """Return nothing: for those who know one language only."""
    return ""


@dataclass(frozen=True, slots=True)
class Scoring:
    """How texts are weighed: plain functions that the reasoner is given, since it knows no language and no encoder.

    `terms` returns the topical words of a text in order, comparable between texts; `is_question` says whether a text
    asks rather than tells; `answering` reads texts as answers; `similarity` is None, or returns None, where nothing can
    read the texts; `translated` returns what words are called in the other language (English or Japanese), an empty
    text where it knows none of them.
    """

    terms: Callable[[str], Sequence[str]]
    is_question: Callable[[str], bool]
    answering: Answering
    similarity: Similarity | None = None
    translated: Callable[[str], str] = untranslated
