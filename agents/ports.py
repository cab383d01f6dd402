"""What agents need from outside."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from agents.limits import Budget
from agents.types import Candidate, Evaluation, EvidenceTask, Findings


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a conversation with a language model: instructions are `system`, data and questions `user`."""

    role: Literal["system", "user", "assistant"]
    content: str


class ChatModel(Protocol):
    """A language model. Both verbs raise ChatModelError."""

    @property
    def name(self) -> str:
        """The model's name, for reports."""

    async def complete(self, messages: Sequence[ChatMessage], schema: Mapping[str, Any] | None = None) -> str:
        """The whole reply, never empty; JSON that fits `schema` where one is given and the server can constrain it."""

    def stream(self, messages: Sequence[ChatMessage]) -> AsyncIterator[str]:
        """The reply in pieces, as they come; never empty altogether."""


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


class Clock(Protocol):
    """Time that only goes forward."""

    def monotonic(self) -> float:
        """Seconds since some fixed moment."""
