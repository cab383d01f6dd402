"""LangChain: a retriever over all items, and a chat history."""

import json
from collections.abc import Sequence
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.documents import Document
from langchain_core.messages import BaseMessage, message_to_dict, messages_from_dict
from langchain_core.retrievers import BaseRetriever
from pydantic import PrivateAttr

from librarian.adapters.connection import Connected, Connection, Steps, ask
from librarian.adapters.conversation import Conversation, Turn
from librarian.adapters.records import metadata_of
from librarian.items.contracts import Filters
from librarian.search.contracts import Hit, SearchInput

_FRAMEWORK = "langchain"
_ROLES = {"human": "user", "ai": "assistant"}


class LibrarianRetriever(Connected, BaseRetriever):
    """Searches `namespace` of a service and returns the best `k` items (up to 50) as documents.

    `filters` are those of a search, by name: `{"kinds": ["memory"], "tags": ["travel"]}`. `url`, `api_key` and
    `client_options` are those of `LibrarianClient`. A document's `id` is the item's uid, its metadata the other fields
    of the hit: kind, score, similarity_score, author, times, attributes and more.
    """

    namespace: str
    k: int = 10
    filters: dict[str, Any] | None = None
    url: str | None = None
    api_key: str | None = None
    client_options: dict[str, Any] = {}  # noqa: RUF012  # pydantic copies defaults
    _connection: Connection = PrivateAttr()

    def model_post_init(self, context: Any, /) -> None:
        """Create the clients."""
        super().model_post_init(context)
        self._connection = Connection(self.url, self.api_key, **self.client_options)

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        del run_manager
        return self._connection.run(self._found(query, k))

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        del run_manager
        return await self._connection.arun(self._found(query, k))

    def _found(self, query: str, k: int | None) -> Steps[list[Document]]:
        filters = Filters(**self.filters) if self.filters else None
        asked = SearchInput(queries=[query], limit=self.k if k is None else k, filters=filters)
        found = yield from ask("search", self.namespace, asked)
        return [document(hit) for hit in found.results]


def document(hit: Hit) -> Document:
    """Return a hit as a document."""
    return Document(id=hit.uid, page_content=hit.content, metadata=metadata_of(hit))


class LibrarianChatMessageHistory(Connected, BaseChatMessageHistory):
    """The messages of one session, in `namespace` of a service; `url`, `api_key` and `options` are those of
    `LibrarianClient`. Each is a message of the conversation `session_id`, which searches also find.
    """

    def __init__(
        self, session_id: str, *, namespace: str, url: str | None = None, api_key: str | None = None, **options: Any
    ) -> None:
        super().__init__()
        self._conversation = Conversation(namespace, session_id, _FRAMEWORK)
        self._connection = Connection(url, api_key, **options)

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]  # a property, as the base class says
        """All messages, the oldest first."""
        return _messages(self._connection.run(self._conversation.forms()))

    async def aget_messages(self) -> list[BaseMessage]:
        """Return all messages, the oldest first."""
        return _messages(await self._connection.arun(self._conversation.forms()))

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Add messages at the end, all or none."""
        self._connection.run(self._conversation.add([_turn(message) for message in messages]))

    async def aadd_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Add messages at the end, all or none."""
        await self._connection.arun(self._conversation.add([_turn(message) for message in messages]))

    def clear(self) -> None:
        """Delete all messages of the session."""
        self._connection.run(self._conversation.clear())

    async def aclear(self) -> None:
        """Delete all messages of the session."""
        await self._connection.arun(self._conversation.clear())


def _turn(message: BaseMessage) -> Turn:
    calls = [call["name"] for call in getattr(message, "tool_calls", ())]
    text = message.text.strip() or (f"calls {', '.join(calls)}" if calls else f"({message.type})")
    role = _ROLES.get(message.type, message.type)
    return Turn(text, role, json.dumps(message_to_dict(message), default=str), message.name)


def _messages(forms: Sequence[str]) -> list[BaseMessage]:
    return messages_from_dict([json.loads(form) for form in forms])
