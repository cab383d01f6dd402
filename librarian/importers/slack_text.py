"""Slack's markup as plain text: who and what is meant instead of ids, links with their labels, no escapes."""

import re
from collections.abc import Mapping

_MARKUP = re.compile(r"<(?P<target>[^<>|]*)(?:\|(?P<label>[^<>]*))?>")
_ESCAPES = (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"))  # the only three that Slack writes; & comes last


def plain_text(text: str, people: Mapping[str, str], channels: Mapping[str, str]) -> str:
    """`text` without markup; `people` and `channels` give names by id."""
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
    """`<!here>`, `<!subteam^S1|@team>`, `<!date^1709285400^{date}|1 March>`."""
    if command.startswith("date^"):
        return label or ""
    return "@" + (label or command.partition("^")[0]).removeprefix("@")


def _link(address: str, label: str | None) -> str:
    plain = address.removeprefix("mailto:").removeprefix("tel:")
    if not label or label in plain:
        return plain
    return f"{label} ({plain})"
