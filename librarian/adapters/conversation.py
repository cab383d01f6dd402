"""Stores a framework's conversation as messages of Librarian: an attribute holds the framework's own form, so that it
is returned exactly, and messages keep the order in which they were added.
"""

import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from librarian.adapters.connection import Steps
from librarian.adapters.records import delete, keep, listed
from librarian.items.contracts import ItemOut, ItemQuery, MessageIn

FORM = "form"
"""The attribute that holds a message in its framework's form, as JSON."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One message: its text, the `role` of its author, and its framework's form as JSON."""

    text: str
    role: str
    form: str
    author: str | None = None


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation of `framework` in a namespace."""

    namespace: str
    conversation_id: str
    framework: str

    def add(self, turns: Sequence[Turn]) -> Steps[None]:
        """Add turns at the end, all or none."""
        if turns:
            now = time.time_ns() // 1000
            yield from keep(self.namespace, [self._row(now + number, turn) for number, turn in enumerate(turns)])

    def forms(self, last: int | None = None) -> Steps[list[str]]:
        """Return the framework's forms in order: all, or the `last` ones."""
        items = yield from self._newest(last)
        return [item.properties["attributes"][FORM] for item in reversed(items)]

    def pop(self) -> Steps[str | None]:
        """Delete the last turn and return its form, or None."""
        items = yield from self._newest(1)
        yield from delete(self.namespace, [item.uid for item in items])
        return items[0].properties["attributes"][FORM] if items else None

    def clear(self) -> Steps[None]:
        """Delete all turns, the last ones first."""
        items = yield from self._newest(None)
        yield from delete(self.namespace, [item.uid for item in items])

    def _newest(self, most: int | None) -> Steps[list[ItemOut]]:
        query = ItemQuery(kinds=["message"], conversation_id=self.conversation_id, tags=[self.framework])
        return (yield from listed(self.namespace, query, most=most))

    def _row(self, position: int, turn: Turn) -> tuple[str, MessageIn]:
        """Return a message with a uid that sorts by time: rows of one batch are listed by uid."""
        uid = f"m-{position:016x}-{uuid.uuid4().hex[:8]}"
        return uid, MessageIn(
            text=turn.text,
            role=turn.role,
            author_name=turn.author or turn.role,
            conversation_id=self.conversation_id,
            position=position,
            sent_at=datetime.fromtimestamp(position / 1_000_000, UTC),
            tags=[self.framework],
            attributes={FORM: turn.form},
        )
