"""The port to language models: messages in, a reply out."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol


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
        """Return the whole reply, never empty; JSON that fits `schema` if given and the server can enforce it."""

    def stream(self, messages: Sequence[ChatMessage]) -> AsyncIterator[str]:
        """Yield the reply in pieces as they arrive; never empty altogether."""
