"""Items as tables show them."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import typer

from librarian.cli.display import printable, table
from librarian.contracts.items import ItemOut

_SHOWN_CHARS = 300
# Of the properties, what tells best whom or what an item belongs to.
_WHO = ("author_name", "subject", "agent", "path")
# Properties that are times.
_TIMES = frozenset({"sent_at", "updated_at", "valid_from", "valid_to"})


def shortened(text: str) -> str:
    """The first 300 characters."""
    return text if len(text) <= _SHOWN_CHARS else text[:_SHOWN_CHARS] + "…"


def caption(uid: str, kind: str, who: Mapping[str, Any], when: datetime | None) -> str:
    """What an item is, a line for each part; `who` is searched for the author, subject, agent or path."""
    named = next((who[name] for name in _WHO if who.get(name)), None)
    time = when and f"{when:%Y-%m-%d %H:%M}"
    return "\n".join(part for part in (uid, kind, named, time) if part)


def _value(name: str, value: Any) -> Any:
    """A property as the graph has it: a service sends times as texts."""
    return datetime.fromisoformat(value) if name in _TIMES and isinstance(value, str) else value


def show_item(item: ItemOut) -> None:
    """Print one item with everything that belongs to it."""
    head = [
        ("uid", item.uid),
        ("kind", item.kind),
        ("namespace", item.namespace),
        ("version", item.version),
        ("occurred", item.occurred_at),
    ]
    own = [
        (name, _value(name, value)) for name, value in sorted(item.properties.items()) if value not in (None, [], {})
    ]
    table(("", ""), [*head, *own])
    typer.echo(printable(item.text))
    if item.evidence:
        rows = [(found.uid, found.author_name, found.sent_at, found.content) for found in item.evidence]
        table(("evidence", "author", "sent", "text"), rows)
