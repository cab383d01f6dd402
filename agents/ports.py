"""What agents need from outside."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol


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

    async def complete(self, messages: Sequence[ChatMessage]) -> str:
        """The whole reply, never empty."""

    def stream(self, messages: Sequence[ChatMessage]) -> AsyncIterator[str]:
        """The reply in pieces, as they come; never empty altogether."""
