"""Scripted parts for tests of the search agent: a tool, a language model and a clock that do as they are told."""

from collections import deque
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from librarian_agents.chat.model import ChatMessage
from librarian_agents.search.types import Candidate


@dataclass(slots=True)
class ScriptedTool:
    """Gives the answers in turn, and the last one for ever; an exception among them is raised. Notes the queries."""

    answers: Sequence[Sequence[Candidate] | Exception]
    queries: list[str] = field(default_factory=list)

    async def search(self, query: str) -> Sequence[Candidate]:
        """The next answer."""
        self.queries.append(query)
        answer = self.answers[min(len(self.queries), len(self.answers)) - 1]
        if isinstance(answer, Exception):
            raise answer
        return answer


class ScriptedModel:
    """Gives the replies in turn; an exception among them is raised. Notes what it was asked."""

    def __init__(self, replies: Iterable[str | Exception]) -> None:
        self._replies = deque(replies)
        self.asked: list[Sequence[ChatMessage]] = []
        self.schemas: list[Mapping[str, Any] | None] = []

    @property
    def name(self) -> str:
        """That it is none."""
        return "scripted"

    async def complete(self, messages: Sequence[ChatMessage], schema: Mapping[str, Any] | None = None) -> str:
        """The next reply; raises AssertionError when there is none left."""
        self.asked.append(list(messages))
        self.schemas.append(schema)
        if not self._replies:
            raise AssertionError("the script has no reply left")
        reply = self._replies.popleft()
        if isinstance(reply, Exception):
            raise reply
        return reply

    async def stream(self, messages: Sequence[ChatMessage]) -> AsyncIterator[str]:
        """The next reply in one piece."""
        yield await self.complete(messages)


@dataclass(slots=True)
class ScriptedClock:
    """Stands still until `now` is changed; `step` seconds pass with each look."""

    now: float = 0.0
    step: float = 0.0

    def monotonic(self) -> float:
        """Seconds."""
        self.now += self.step
        return self.now
