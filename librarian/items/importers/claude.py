"""Claude's data export: `conversations.json` and `memories.json`, alone or in the export's zip.

Shape (there is no official description; parsers agree on it): a list of conversations `{uuid, name, created_at,
updated_at, account, chat_messages}`. message: `{uuid, sender, text, content, created_at, attachments, files}`, where
`sender` is `human` or `assistant`, `content` is a list of parts `{type: text | thinking | tool_use | tool_result, …}`,
an attachment has `file_name` and `extracted_content`, a file `file_name`. Older exports have `text` alone. The texts
become messages. memories.json, `[{conversations_memory, project_memories: {project: text}}]`, holds Claude's notes
about its user, which become memories. Each file is read whole; its conversations are decoded one by one.
"""

from collections.abc import Iterator
from typing import Any

from librarian.items.importers import jsontext
from librarian.items.importers.entries import Entry, Fault, Row, Skip, entries_of
from librarian.items.importers.fields import iso_time, tags_of, text_of, time_remarks, uid, without_nothing
from librarian.items.importers.source import Source

_CONVERSATIONS, _MEMORIES = "conversations.json", "memories.json"
_ROLES = {"human": "user", "assistant": "assistant"}
_ASSISTANT = "Claude"
_NO_TEXT = "Left out, messages without text (only tools or reasoning)"


def recognises(source: Source) -> bool:
    """Return whether there is a conversations file whose conversations have `chat_messages`."""
    path = _file(source, _CONVERSATIONS)
    if path is None or not path.endswith(".json"):
        return False
    head = source.head(path).lstrip()
    return head[:1] == b"[" and b'"chat_messages"' in head and b'"sender"' in head


def entries(source: Source) -> Iterator[Entry]:
    """Yield the messages of each conversation, then memories. Raises InvalidInput if there is neither."""
    readers = {_CONVERSATIONS: _conversation, _MEMORIES: _memories}
    files = {path: readers[name] for name in readers if (path := _file(source, name)) is not None}

    def read(path: str, text: str) -> Iterator[Entry]:
        for number, element in enumerate(jsontext.elements(text), start=1):
            yield from files[path](f"{path} entry {number}", element)

    return entries_of(source, files, "conversations.json of a Claude export", read)


def _file(source: Source, name: str) -> str | None:
    if source.single:
        is_memories = source.paths[0].endswith(_MEMORIES)
        return source.paths[0] if is_memories == (name == _MEMORIES) else None
    return source.shallowest(name.__eq__)


def _conversation(where: str, conversation: Any) -> Iterator[Entry]:
    messages = conversation.get("chat_messages") if isinstance(conversation, dict) else None
    if not isinstance(messages, list):
        yield Fault(where, "not a conversation: an object with chat_messages is expected")
        return
    conversation_id = text_of(conversation.get("uuid"))
    if conversation_id is None:
        yield Fault(where, "no uuid")
        return
    title = text_of(conversation.get("name"))
    common = {"conversation_id": conversation_id, "tags": tags_of([title] if title else [])}
    for position, message in enumerate(messages):
        yield _message(f"{where} message {position}", message, position, common)


def _message(where: str, message: Any, position: int, common: dict[str, Any]) -> Entry:
    if not isinstance(message, dict) or message.get("sender") not in _ROLES:
        return Fault(where, "not a message: an object with the sender human or assistant is expected")
    text, captions = _text(message), _captions(message)
    if not text and not captions:
        return Skip(_NO_TEXT)
    role, given = _ROLES[message["sender"]], message.get("created_at")
    sent_at = iso_time(given)
    values = {
        "message_id": text_of(message.get("uuid")),
        "text": text or captions,
        "caption": captions if text else None,
        "role": role,
        "author_name": _ASSISTANT if role == "assistant" else None,
        "position": position,
        "sent_at": sent_at,
        **common,
    }
    return Row(where, {"kind": "message", **without_nothing(values)}, time_remarks(given, sent_at))


def _text(message: dict[str, Any]) -> str:
    """Return the text parts; `text` has the same, with notes in place of the other parts."""
    content = message["content"] if isinstance(message.get("content"), list) else []
    parts = [text_of(part.get("text")) for part in content if isinstance(part, dict) and part.get("type") == "text"]
    joined = "\n\n".join(part for part in parts if part)
    return joined or ("" if content else text_of(message.get("text")) or "")


def _captions(message: dict[str, Any]) -> str:
    """Return the names of the attachments."""
    listed = [each for key in ("attachments", "files") for each in message.get(key) or [] if isinstance(each, dict)]
    names = (text_of(each.get("file_name")) for each in listed)
    return "\n".join(name for name in names if name)


def _memories(where: str, noted: Any) -> Iterator[Entry]:
    if not isinstance(noted, dict):
        yield Fault(where, "not an object")
        return
    projects = noted["project_memories"] if isinstance(noted.get("project_memories"), dict) else {}
    account = text_of(noted.get("account_uuid")) or "account"
    for name, text in {account: noted.get("conversations_memory"), **projects}.items():
        if (memory := text_of(text)) is not None:
            values = {"uid": uid("claude-memory", name), "text": memory, "agent": _ASSISTANT, "source": "claude"}
            yield Row(where, {"kind": "memory", **values})
