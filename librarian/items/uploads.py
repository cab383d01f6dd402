"""Previews rows before they are kept, and undoes keeping them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from msgspec import Struct

from graph.executor import Executor
from graph.item import Item
from graph.search import hydrate
from librarian.base.errors import InvalidInput
from librarian.items.contracts import ItemIn, Outcome
from librarian.items.rows import RowBuilder, row_of


@dataclass(frozen=True, slots=True)
class Upcoming:
    """An item as it would be kept, and the stored item with its uid."""

    item: Item
    before: Item | None

    @property
    def outcome(self) -> Outcome:
        """The effect of keeping it."""
        if self.before is None:
            return "added"
        same = (self.before.kind, self.before.source_hash) == (self.item.kind, self.item.source_hash)
        return "unchanged" if same else "updated"


class Step(Struct, kw_only=True, omit_defaults=True):
    """A kept item: its new version, and its previous row; None if it is new."""

    uid: str
    version: int
    before: ItemIn | None = None


async def look_at(executor: Executor, namespace: str, rows: Sequence[ItemIn]) -> list[Upcoming]:
    """Preview the effect of keeping the rows, skipping contradictory ones."""
    new = {item.uid: item for item in _built(namespace, rows)}
    stored = {item.uid: item for item in await hydrate(executor, namespace, list(new))}
    return [Upcoming(item, stored.get(uid)) for uid, item in new.items()]


async def steps_back(executor: Executor, namespace: str, looked_at: Sequence[Upcoming]) -> list[Step]:
    """Return the steps that undo keeping the previewed items."""
    changed = {upcoming.item.uid: upcoming for upcoming in looked_at if upcoming.outcome != "unchanged"}
    return [
        Step(uid=item.uid, version=item.version, before=row_of(before) if before else None)
        for item in await hydrate(executor, namespace, list(changed))
        if item.source_hash == changed[item.uid].item.source_hash
        for before in (changed[item.uid].before,)
    ]


def _built(namespace: str, rows: Sequence[ItemIn]) -> Iterator[Item]:
    builder = RowBuilder()
    for row in rows:
        try:
            yield builder.item(namespace, row).item
        except InvalidInput:
            continue
