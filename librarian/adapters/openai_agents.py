"""The OpenAI Agents SDK: a persistent session, and the tools `recall` and `remember`."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

try:
    from agents import FunctionTool, SessionABC, SessionSettings, TResponseInputItem, function_tool
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError("the OpenAI Agents SDK is missing: install librarian[openai-agents]") from missing

from librarian.adapters.connection import Connected, Connection
from librarian.adapters.conversation import Conversation, Turn
from librarian.adapters.tools import MemoryTools

_FRAMEWORK = "openai-agents"


class LibrarianSession(Connected, SessionABC):
    """The items of one session, in `namespace` of a service; `url`, `api_key` and `options` are those of
    `LibrarianClient`. Each item is a message of the conversation `session_id`, which searches also find.

    `session_settings` may limit a run to the latest items.
    """

    def __init__(
        self,
        session_id: str,
        *,
        namespace: str,
        url: str | None = None,
        api_key: str | None = None,
        session_settings: SessionSettings | None = None,
        **options: Any,
    ) -> None:
        self.session_id = session_id
        self.session_settings = session_settings or SessionSettings()
        self._conversation = Conversation(namespace, session_id, _FRAMEWORK)
        self._connection = Connection(url, api_key, **options)

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Return the items in order: all, or the latest ones."""
        if limit is None and self.session_settings is not None:
            limit = self.session_settings.limit
        if limit is not None and limit <= 0:
            return []
        return [json.loads(form) for form in await self._connection.arun(self._conversation.forms(limit))]

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Add items at the end, all or none."""
        await self._connection.arun(self._conversation.add([_turn(item) for item in items]))

    async def pop_item(self) -> TResponseInputItem | None:
        """Delete the last item and return it, or None."""
        form = await self._connection.arun(self._conversation.pop())
        return None if form is None else json.loads(form)

    async def clear_session(self) -> None:
        """Delete all items of the session."""
        await self._connection.arun(self._conversation.clear())


class LibrarianTools(MemoryTools):
    """Tools for an agent over `namespace` of a service: `Agent(tools=LibrarianTools("team:agents").all())`."""

    def all(self) -> list[FunctionTool]:
        """Return the tools `recall` and `remember`."""
        return [function_tool(function) for function in self.functions]


def _turn(item: Mapping[str, Any]) -> Turn:
    role = str(item.get("role") or item.get("type") or "item")
    return Turn(_text(item).strip() or f"({role})", role, json.dumps(item, ensure_ascii=False))


def _text(item: Mapping[str, Any]) -> str:
    """Return the text of an item: its content, the name of the tool it calls, or the tool's output."""
    match item:
        case {"content": str(content)}:
            return content
        case {"content": [*parts]}:
            return _texts(parts)
        case {"type": str(kind), "name": str(name)} if kind.endswith("call"):
            return f"calls {name}"
        case {"output": str(output)}:
            return output
        case {"output": [*parts]} | {"summary": [*parts]}:
            return _texts(parts)
    return ""


def _texts(parts: Sequence[Any]) -> str:
    return "\n".join(part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str))
