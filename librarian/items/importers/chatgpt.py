"""ChatGPT's data export: `conversations.json` (newer: `conversations-000.json`, …), alone or in the export's zip.

Shape (there is no official description; parsers agree on it): a list of conversations `{conversation_id or id, title,
create_time, mapping, current_node}`. `mapping` is a tree of nodes `{id, message, parent, children}`: editing a prompt
or regenerating an answer makes a branch, and the user sees the path from `current_node` to the root. message:
`{id, author: {role, name}, create_time, recipient, weight, content: {content_type, parts}, metadata}`; times are epoch
seconds. What the user saw becomes messages. Each file is read whole; its conversations are decoded one by one.
"""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from librarian.items.importers import jsontext
from librarian.items.importers.entries import Entry, Fault, Row, Skip, entries_of
from librarian.items.importers.fields import epoch_time, tags_of, text_of, time_remarks, without_nothing
from librarian.items.importers.source import Source

_FILE = re.compile(r"conversations(-\d+)?\.json")
_SHOWN = frozenset({"text", "multimodal_text"})
_PICTURES_ONLY = frozenset({"multimodal_text"})
# Content that each role shows to the user: a tool's texts are for the model only, its pictures are not.
_SHOWN_BY_ROLE = {"user": _SHOWN, "assistant": _SHOWN, "system": _SHOWN, "tool": _PICTURES_ONLY}
_CITATION = re.compile("\ue200[^\ue200\ue201]*\ue201")  # marks that the application draws as links
_ASSISTANT = "ChatGPT"


def recognises(source: Source) -> bool:
    """Return whether there is a conversations file, or a single file that begins like one."""
    files = _files(source)
    if not files or not files[0].endswith(".json"):
        return False
    head = source.head(files[0]).lstrip()
    return head[:1] == b"[" and b'"mapping"' in head and b'"create_time"' in head


def entries(source: Source) -> Iterator[Entry]:
    """Yield the visible messages of each conversation. Raises InvalidInput if there is no such file."""
    return entries_of(source, _files(source), "conversations.json of a ChatGPT export", _conversations)


def _conversations(path: str, text: str) -> Iterator[Entry]:
    for number, conversation in enumerate(jsontext.elements(text), start=1):
        yield from _conversation(f"{path} conversation {number}", conversation)


def _files(source: Source) -> list[str]:
    return [path for path in source.paths if source.single or _FILE.fullmatch(path.rpartition("/")[2])]


def _conversation(where: str, conversation: Any) -> Iterator[Entry]:
    if not isinstance(conversation, dict) or not isinstance(conversation.get("mapping"), dict):
        yield Fault(where, "not a conversation: an object with a mapping is expected")
        return
    conversation_id = text_of(conversation.get("conversation_id")) or text_of(conversation.get("id"))
    if conversation_id is None:
        yield Fault(where, "no conversation_id")
        return
    title = text_of(conversation.get("title"))
    common = {"conversation_id": conversation_id, "tags": tags_of([title] if title else [])}
    time = epoch_time(conversation.get("create_time"))
    for position, node in enumerate(_visible_branch(conversation)):
        entry = _message(f"{where} message {position}", node, common, position, time)
        if isinstance(entry, Row):
            time = entry.values.get("sent_at", time)
        yield entry


def _visible_branch(conversation: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the nodes with messages from the root to the current one, or else to the last written one."""
    mapping: dict[str, Any] = conversation["mapping"]
    key = conversation.get("current_node")
    if not isinstance(key, str) or key not in mapping:
        key = _last_written(mapping)
    branch: list[dict[str, Any]] = []
    seen: set[str] = set()
    while isinstance(key, str) and key not in seen and isinstance(node := mapping.get(key), dict):
        seen.add(key)
        branch.append(node)
        key = node.get("parent")
    return [node for node in reversed(branch) if node.get("message") is not None]


def _last_written(mapping: dict[str, Any]) -> str | None:
    times = {key: _written(node) for key, node in mapping.items()}
    dated = {key: time for key, time in times.items() if time is not None}
    return max(dated, key=lambda key: dated[key]) if dated else next(reversed(mapping), None)


def _written(node: Any) -> datetime | None:
    message = node.get("message") if isinstance(node, dict) else None
    return epoch_time(message.get("create_time")) if isinstance(message, dict) else None


def _message(where: str, node: dict[str, Any], common: dict[str, Any], position: int, before: datetime | None) -> Entry:
    """Return one node as a message; `before` is the time of the previous one, used if it has none."""
    message = node["message"]
    if not isinstance(message, dict) or not isinstance(message.get("content"), dict):
        return Fault(where, "not a message: an object with a content is expected")
    author = message.get("author")
    role = (text_of(author.get("role")) if isinstance(author, dict) else None) or ""
    if not _is_shown(message, role):
        return Skip("Left out, messages that ChatGPT does not show (system, tools, reasoning)")
    text, captions = _text(message["content"]), _captions(message)
    if not text and not captions:
        return Skip("Left out, messages without text")
    message_id = text_of(message.get("id")) or text_of(node.get("id"))
    if message_id is None:
        return Fault(where, "no id")
    sent_at = epoch_time(message.get("create_time"))
    values = {
        "message_id": message_id,
        "text": text or captions,
        "caption": captions if text else None,
        "role": role,
        "author_name": _ASSISTANT if role in ("assistant", "tool") else None,
        "position": position,
        "sent_at": sent_at or before,
        **common,
    }
    remarks = time_remarks(message.get("create_time"), sent_at) if before is None else ()
    return Row(where, {"kind": "message", **without_nothing(values)}, remarks)


def _is_shown(message: dict[str, Any], role: str) -> bool:
    metadata = message["metadata"] if isinstance(message.get("metadata"), dict) else {}
    hidden = metadata.get("is_visually_hidden_from_conversation") or metadata.get("is_user_system_message")
    content_type = message["content"].get("content_type")
    shown = isinstance(content_type, str) and content_type in _SHOWN_BY_ROLE.get(role, ())
    return shown and not hidden and message.get("recipient", "all") == "all" and message.get("weight") != 0


def _text(content: dict[str, Any]) -> str:
    """Return the texts of all parts, including transcribed speech."""
    parts = content["parts"] if isinstance(content.get("parts"), list) else [content.get("text")]
    texts = (part.get("text") if isinstance(part, dict) else part for part in parts)
    joined = "\n".join(text for text in texts if isinstance(text, str))
    return _CITATION.sub("", joined).strip()


def _captions(message: dict[str, Any]) -> str:
    """Return descriptions of pictures and files: the prompts of generated pictures, the names of attachments."""
    parts = message["content"].get("parts")
    metadata = message["metadata"] if isinstance(message.get("metadata"), dict) else {}
    attachments = metadata.get("attachments")
    captions = [_prompt(part) for part in (parts if isinstance(parts, list) else [])]
    captions += [
        text_of(attachment.get("name"))
        for attachment in (attachments if isinstance(attachments, list) else [])
        if isinstance(attachment, dict)
    ]
    return "\n".join(text for text in captions if text)


def _prompt(part: Any) -> str | None:
    value: Any = part
    for key in ("metadata", "dalle", "prompt"):
        value = value.get(key) if isinstance(value, dict) else None
    return text_of(value)
