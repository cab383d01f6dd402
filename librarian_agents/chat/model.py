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
        """The whole reply, never empty; JSON that fits `schema` where one is given and the server can constrain it."""

    def stream(self, messages: Sequence[ChatMessage]) -> AsyncIterator[str]:
        """The reply in pieces, as they come; never empty altogether."""
