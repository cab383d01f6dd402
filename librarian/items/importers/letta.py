"""Letta: agent files (`.af`) in the current and the first format.

Shapes, from letta-ai/letta (`letta/schemas/agent_file.py`, `letta/serialize_schemas`):

- `{"agents": [{id, name, block_ids, messages}], "blocks": [{id, label, value, description}], …}`; message:
  `{id, role, content, name, created_at, tool_calls, …}`.
- The first format is one agent: `{"agent_type", "name", "core_memory": [{label, value}], "messages": […], …}`.
- Also archival memory, as listed by its API: `[{id, text, created_at, tags}]`, alone or under
  `archival_memory` or `passages`.

Blocks and archival memory become memories. Texts of people and agents become messages: an agent may speak by calling
`send_message`, a person in an envelope `{"type": "user_message", "message": …}`. Files are read whole.
"""

from collections.abc import Iterator
from typing import Any

from librarian.base.errors import InvalidInput
from librarian.items.importers import jsontext
from librarian.items.importers.entries import Entry, Fault, Row, Skip, entries_of
from librarian.items.importers.fields import (
    iso_time,
    short,
    tags_of,
    text_of,
    texts_of,
    time_remarks,
    uid,
    without_nothing,
)
from librarian.items.importers.source import Source

_SUFFIX = ".af"
_ARCHIVES = ("archival_memory", "passages")
_SAID_BY = frozenset({"user", "assistant"})
_SILENT = "Left out, messages that are not said to anybody (system, tools, events, thoughts)"


def recognises(source: Source) -> bool:
    """Return whether there is an agent file, or a single file that begins like one."""
    return any(_is_agent_file(path, source.head(path)) for path in source.files(_SUFFIX, ".json"))


def _is_agent_file(path: str, head: bytes) -> bool:
    first = b'"agent_type"' in head and b'"core_memory"' in head
    return head.lstrip()[:1] == b"{" and (first or (path.endswith(_SUFFIX) and b'"agents"' in head))


def entries(source: Source) -> Iterator[Entry]:
    """Yield memories and messages of every agent. Raises InvalidInput if there is no such file."""
    return entries_of(source, source.files(_SUFFIX, ".json"), "agent file (.af) of Letta", _file)


def _file(path: str, text: str) -> Iterator[Entry]:
    content = jsontext.value(text)
    if isinstance(content, list):
        content = {"passages": content}
    if not isinstance(content, dict):
        raise InvalidInput("not an agent file: an object is expected")
    agents = _objects(content.get("agents")) or ([content] if "messages" in content else [])
    owners = {str(block): _name(agent) for agent in agents for block in texts_of(agent.get("block_ids") or [])}
    blocks = [*_objects(content.get("blocks")), *_objects(content.get("core_memory"))]
    for number, block in enumerate(blocks, start=1):
        yield _block(f"{path} block {number}", block, owners.get(str(block.get("id"))) or _name(content))
    for name in _ARCHIVES:
        for number, passage in enumerate(_objects(content.get(name)), start=1):
            yield _passage(f"{path} {name} {number}", passage, _name(content))
    for agent in agents:
        for position, message in enumerate(_objects(agent.get("messages"))):
            yield _message(f"{path} message {position}", message, position, agent)


def _objects(value: Any) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _name(agent: dict[str, Any]) -> str | None:
    return short(text_of(agent.get("name")))


def _block(where: str, block: dict[str, Any], agent: str | None) -> Entry:
    text, label = text_of(block.get("value")), text_of(block.get("label"))
    if text is None:
        return Skip("Left out, empty blocks of memory")
    source_id = text_of(block.get("id"))
    values = {
        "uid": uid("letta", f"{agent or ''}:{source_id or label}"),
        "name": short(label),
        "text": text,
        "tags": tags_of([f"block:{label}"] if label else []),
        "agent": agent,
        "source": "letta",
    }
    return Row(where, {"kind": "memory", **without_nothing(values)})


def _passage(where: str, passage: dict[str, Any], agent: str | None) -> Entry:
    text, source_id, given = text_of(passage.get("text")), text_of(passage.get("id")), passage.get("created_at")
    if text is None:
        return Fault(where, 'no text in "text"')
    occurred_at = iso_time(given)
    values = {
        "uid": source_id and uid("letta", source_id),
        "text": text,
        "tags": tags_of(texts_of(passage.get("tags") or [])),
        "agent": agent,
        "source": "letta",
        "occurred_at": occurred_at,
    }
    return Row(where, {"kind": "memory", **without_nothing(values)}, time_remarks(given, occurred_at))


def _message(where: str, message: dict[str, Any], position: int, agent: dict[str, Any]) -> Entry:
    role = text_of(message.get("role"))
    text = _said(message) if role in _SAID_BY else None
    if text is None:
        return Skip(_SILENT)
    given, name = message.get("created_at"), _name(agent)
    sent_at = iso_time(given)
    values = {
        "message_id": text_of(message.get("id")),
        "text": text,
        "role": role,
        "author_name": name if role == "assistant" else short(text_of(message.get("name"))),
        "conversation_id": short(text_of(agent.get("id")) or name),
        "position": position,
        "sent_at": sent_at,
    }
    return Row(where, {"kind": "message", **without_nothing(values)}, time_remarks(given, sent_at))


def _said(message: dict[str, Any]) -> str | None:
    """Return the text that a message addresses to somebody; text beside a call of `send_message` is a thought."""
    calls = _objects(message.get("tool_calls"))
    sent = [text for call in calls if (text := _sent(call.get("function"))) is not None]
    if sent:
        return "\n\n".join(sent)
    content = message.get("content", message.get("text"))
    parts = [part.get("text") for part in _objects(content) if part.get("type") == "text"] or [content]
    return _unwrapped("\n\n".join(text for part in parts if (text := text_of(part)) is not None))


def _sent(function: Any) -> str | None:
    if not isinstance(function, dict) or function.get("name") != "send_message":
        return None
    given = _object(text_of(function.get("arguments")) or "")
    return text_of(given.get("message")) if given is not None else None


def _unwrapped(text: str) -> str | None:
    """Return the message in an envelope; None for another kind, such as a heartbeat or a login."""
    envelope = _object(text)
    if envelope is None or not isinstance(envelope.get("type"), str):
        return text_of(text)
    return text_of(envelope.get("message")) if envelope["type"] == "user_message" else None


def _object(text: str) -> dict[str, Any] | None:
    if not text.startswith("{"):
        return None
    try:
        value = jsontext.value(text)
    except InvalidInput:
        return None
    return value if isinstance(value, dict) else None
