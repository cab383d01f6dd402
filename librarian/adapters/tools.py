"""Memory tools for agents, as plain functions that frameworks turn into tools."""

from collections.abc import Awaitable, Callable
from typing import Any

from librarian.adapters.connection import Connected, Connection, ask
from librarian.items.contracts import RememberInput
from librarian.search.contracts import ContextInput


class MemoryTools(Connected):
    """`recall` and `remember` over `namespace` of a service; `url`, `api_key` and `options` are those of
    `LibrarianClient`. `recall` returns at most `max_tokens`.
    """

    def __init__(
        self,
        namespace: str,
        *,
        url: str | None = None,
        api_key: str | None = None,
        max_tokens: int = 2_000,
        **options: Any,
    ) -> None:
        self._namespace = namespace
        self._max_tokens = max_tokens
        self._connection = Connection(url, api_key, **options)

    @property
    def functions(self) -> tuple[Callable[[str], Awaitable[str]], ...]:
        """The functions to make tools of; their docstrings are for the model."""
        return (self.recall, self.remember)

    async def recall(self, question: str) -> str:
        """Get what is remembered about a question, as dated lines, best first. Its first line says when nothing that
        is remembered answers the question.

        Args:
            question: One question in full words.

        """
        asked = ContextInput(query=question, max_tokens=self._max_tokens)
        found = await self._connection.arun(ask("context", self._namespace, asked))
        return str(found.text)

    async def remember(self, text: str) -> str:
        """Keep one thing for later: what was decided, learned or asked for. The same text twice is kept once.

        Args:
            text: A statement that is understood without this conversation.

        """
        kept = await self._connection.arun(ask("remember", self._namespace, RememberInput(text=text)))
        return f"remembered as {kept.item.uid}"
