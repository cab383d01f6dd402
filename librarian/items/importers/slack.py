"""Slack's export, as a zip or an unpacked folder.

Shape (https://slack.com/help/articles/220556107-How-to-read-Slack-data-exports): `users.json` (Enterprise Grid:
`org_users.json`), `channels.json`, `groups.json` (private), `mpims.json` (group messages), `dms.json`, and for each
conversation a folder of its name (direct messages: its id) with one file per day, `2024-03-01.json`: a list of
messages `{type, subtype, ts, user, text, thread_ts, edited, files, bot_id, username, …}`. Edited messages appear in
their last version. Day files are read one at a time.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from librarian.base.errors import InvalidInput
from librarian.items.importers import jsontext
from librarian.items.importers.entries import Entry, Fault, Row, Skip
from librarian.items.importers.fields import short, text_of, time_remarks, without_nothing
from librarian.items.importers.source import Source

_USERS = ("users.json", "org_users.json")
_NAMED = ("channels.json", "groups.json", "mpims.json")
_DIRECT = "dms.json"
_LISTINGS = frozenset({*_NAMED, _DIRECT})
_WORK_LISTINGS = ("channels.json", "groups.json")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}\.json")
_TS = re.compile(r"(?P<seconds>\d{1,12})(?:\.(?P<micros>\d{1,6}))?")
_NOISE = re.compile(r"(channel|group)_(join|leave|archive|unarchive)|bot_(add|remove|enable|disable)|(un)?pinned_item")
_GONE = frozenset({"tombstone", "message_deleted"})


@dataclass(frozen=True, slots=True)
class _Conversation:
    """One channel or direct conversation; `domain` is a channel's name."""

    id: str
    domain: str | None = None


@dataclass(slots=True)
class _Workspace:
    """Contents of the listings: names by user id and by channel id, conversations by folder."""

    people: dict[str, str] = field(default_factory=dict)
    channels: dict[str, str] = field(default_factory=dict)
    conversations: dict[str, _Conversation] = field(default_factory=dict)


def recognises(source: Source) -> bool:
    """Return whether there is a listing of conversations with a day file in a folder beside it."""
    return (root := _root(source)) is not None and any(_day_files(source, root))


def entries(source: Source) -> Iterator[Entry]:
    """Yield the messages of each conversation, day by day. Raises InvalidInput if it is not such an export."""
    root = _root(source)
    if root is None:
        raise InvalidInput(f"{source.name} is not a Slack export: it holds none of {', '.join(sorted(_LISTINGS))}")
    return _messages(source, root)


def _messages(source: Source, root: str) -> Iterator[Entry]:
    workspace = _Workspace()
    yield from _listings(source, root, workspace)
    for folder, path in _day_files(source, root):
        conversation = workspace.conversations.get(folder, _Conversation(folder, folder))
        for number, message in _numbered(source, path):
            if isinstance(message, Fault):
                yield message
            else:
                yield _message(f"{path} message {number}", message, conversation, workspace)


def _root(source: Source) -> str | None:
    """Return the folder of the listings, as a path prefix."""
    if source.single:
        return None
    path = source.shallowest(_LISTINGS.__contains__)
    return None if path is None else path[: path.rfind("/") + 1]


def _day_files(source: Source, root: str) -> Iterator[tuple[str, str]]:
    """Yield (folder, path) of every day."""
    for path in source.paths:
        parts = path.removeprefix(root).split("/")
        if path.startswith(root) and len(parts) == 2 and _DAY.fullmatch(parts[1]):
            yield parts[0], path


def _numbered(source: Source, path: str) -> Iterator[tuple[int, Any]]:
    """Yield the elements of a file's list, numbered from 1, and a fault for an unreadable one."""
    try:
        yield from enumerate(jsontext.elements(source.text(path)), start=1)
    except InvalidInput as error:
        yield 0, Fault(path, str(error))


def _listings(source: Source, root: str, workspace: _Workspace) -> Iterator[Fault]:
    """Fill `workspace` from the existing listings."""
    for name in (*_USERS, *_NAMED, _DIRECT):
        if (path := root + name) not in source.paths:
            continue
        for number, listed in _numbered(source, path):
            if isinstance(listed, Fault):
                yield listed
            elif not isinstance(listed, dict) or text_of(listed.get("id")) is None:
                yield Fault(f"{path} entry {number}", "not an object with an id")
            else:
                _learn(workspace, name, listed)


def _learn(workspace: _Workspace, listing: str, listed: dict[str, Any]) -> None:
    known_id = str(text_of(listed["id"]))
    name = text_of(listed.get("name"))
    if listing in _USERS:
        if (person := _person_name(listed)) is not None:
            workspace.people[known_id] = person
    elif listing == _DIRECT or name is None:
        workspace.conversations[known_id] = _Conversation(known_id)
    else:
        workspace.channels[known_id] = name
        workspace.conversations[name] = _Conversation(known_id, name if listing in _WORK_LISTINGS else None)


def _person_name(user: Mapping[str, Any]) -> str | None:
    """Return the name that Slack shows."""
    profile = user["profile"] if isinstance(user.get("profile"), dict) else {}
    names = (profile.get("display_name"), profile.get("real_name"), user.get("real_name"), user.get("name"))
    return next((name for name in map(text_of, names) if name), None)


def _message(where: str, message: Any, conversation: _Conversation, workspace: _Workspace) -> Entry:
    if isinstance(message, dict) and isinstance(message.get("message"), dict):
        message = message["message"]  # an edit event wraps the edited message
    if not isinstance(message, dict) or message.get("type", "message") != "message":
        return Fault(where, "not a message")
    subtype = text_of(message.get("subtype")) or ""
    if _NOISE.fullmatch(subtype):
        return Skip("Left out, messages about joining, leaving, archiving, pinning and bots added")
    if subtype in _GONE:
        return Skip("Left out, deleted messages")
    text, files = _text(message, workspace), _file_names(message)
    if not text and not files:
        return Skip("Left out, messages without text")
    ts = text_of(message.get("ts"))
    if ts is None:
        return Fault(where, "no ts")
    sent_at = _time(ts)
    values = {
        "message_id": ts,
        "text": text or files,
        "caption": files if text else None,
        "conversation_id": conversation.id,
        "session_id": text_of(message.get("thread_ts")),
        "domain": short(conversation.domain),
        "author_name": short(_author(message, workspace)),
        "author_id": text_of(message.get("user")) or text_of(message.get("bot_id")),
        "role": "bot" if message.get("bot_id") else None,
        "sent_at": sent_at,
    }
    return Row(where, {"kind": "message", **without_nothing(values)}, time_remarks(ts, sent_at))


def _time(ts: str) -> datetime | None:
    """Read epoch seconds with six decimals that order messages of one second; a float would lose them."""
    found = _TS.fullmatch(ts)
    if found is None:
        return None
    try:
        second = datetime.fromtimestamp(int(found["seconds"]), UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return second + timedelta(microseconds=int((found["micros"] or "0").ljust(6, "0")))


def _text(message: Mapping[str, Any], workspace: _Workspace) -> str:
    """Return the text, or the attachments' texts of a bot's message."""
    text = text_of(message.get("text")) or "\n".join(_attached(message))
    return plain_text(text, workspace.people, workspace.channels)


def _attached(message: Mapping[str, Any]) -> Iterator[str]:
    for attachment in _objects(message.get("attachments")):
        texts = [text_of(attachment.get(key)) for key in ("pretext", "title", "text")]
        yield from [text for text in texts if text] or [text_of(attachment.get("fallback")) or ""]


def _file_names(message: Mapping[str, Any]) -> str:
    names = (text_of(file.get("title")) or text_of(file.get("name")) for file in _objects(message.get("files")))
    return "\n".join(name for name in names if name)


def _objects(value: Any) -> list[dict[str, Any]]:
    return [found for found in value if isinstance(found, dict)] if isinstance(value, list) else []


def _author(message: Mapping[str, Any], workspace: _Workspace) -> str | None:
    """Return the author: from the listing, the message's own profile, or the name that a bot uses."""
    user = text_of(message.get("user"))
    if user is not None and user in workspace.people:
        return workspace.people[user]
    for key in ("user_profile", "bot_profile"):
        if isinstance(message.get(key), dict) and (name := _person_name({**message[key], "profile": message[key]})):
            return name
    return text_of(message.get("username")) or user


_MARKUP = re.compile(r"<(?P<target>[^<>|]*)(?:\|(?P<label>[^<>]*))?>")
_ESCAPES = (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"))  # the only three that Slack writes; & comes last


def plain_text(text: str, people: Mapping[str, str], channels: Mapping[str, str]) -> str:
    """Return `text` without markup; `people` and `channels` map ids to names."""
    replaced = _MARKUP.sub(lambda found: _shown(found["target"], found["label"], people, channels), text)
    for escape, letter in _ESCAPES:
        replaced = replaced.replace(escape, letter)
    return replaced.strip()


def _shown(target: str, label: str | None, people: Mapping[str, str], channels: Mapping[str, str]) -> str:
    match target[:1]:
        case "@":
            return "@" + (people.get(target[1:]) or label or target[1:]).removeprefix("@")
        case "#":
            return "#" + (channels.get(target[1:]) or label or target[1:]).removeprefix("#")
        case "!":
            return _special(target[1:], label)
        case _:
            return _link(target, label)


def _special(command: str, label: str | None) -> str:
    """Read `<!here>`, `<!subteam^S1|@team>`, `<!date^1709285400^{date}|1 March>`."""
    if command.startswith("date^"):
        return label or ""
    return "@" + (label or command.partition("^")[0]).removeprefix("@")


def _link(address: str, label: str | None) -> str:
    plain = address.removeprefix("mailto:").removeprefix("tel:")
    if not label or label in plain:
        return plain
    return f"{label} ({plain})"
