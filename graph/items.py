"""Changes of one item under a lock, its history, and pages of items."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from graph.errors import ConstraintViolated, ItemForgotten
from graph.executor import Executor, Row, Transaction
from graph.facts import Succession, propose
from graph.ingest import claim, keep_revisions, put_judged
from graph.item import Fact, Item, NewItem, Unchanged, item_of
from graph.patience import Patience
from graph.search import filter_params, found_item
from graph.tombstones import hold_back, said_by
from graph.types import ItemFilter, Provenance, native

Order = Literal["newest", "oldest", "latest"]
Position = tuple[str, str]

_FIRST: Position = ("0001-01-01T00:00:00Z", "")
_LAST: Position = ("9999-12-31T23:59:59Z", "")


@dataclass(frozen=True, slots=True)
class StoredItem:
    """An item before a change. A fact's `valid_to` is the one it came with, whatever closed it since; `superseded_by`
    are the facts that supersede it, oldest first.
    """

    item: Item
    superseded_by: Sequence[Fact] = ()


@dataclass(frozen=True, slots=True)
class Changed:
    """Outcome of a change: the item that now holds, and whether it was added, updated or unchanged."""

    outcome: Literal["added", "updated", "unchanged"]
    item: Item


@dataclass(frozen=True, slots=True)
class Listed:
    """An item of a listing with its sort key: the time `created_at` as text to the nanosecond, which Python's datetime
    cannot hold; in the order "latest" the time when it happened.
    """

    item: Item
    created_at: str


@dataclass(frozen=True, slots=True)
class Revision:
    """An item before one change: who changed it, why and when."""

    revision_id: str
    reason: str
    actor: str | None
    revised_at: datetime
    item: Item


Decide = Callable[[StoredItem | None], NewItem | Unchanged]


async def change_item(
    executor: Executor,
    namespace: str,
    uid: str,
    decide: Decide,
    provenance: Provenance,
    proposed: Sequence[Succession] = (),
) -> Changed:
    """Lock the item `uid`, let `decide` choose what to write instead, and write that.

    `decide` gets None if there is no such item, and must then return a new one; if it raises, nothing is written. It
    may run more than once, and may return an item with another uid: a fact that supersedes this one, which keeps a
    revision too. `proposed` is stored with a change. Nobody else changes the item between the decision and the write.
    Raises ItemBusy, ItemForgotten.
    """
    patience = Patience()

    async def work(transaction: Transaction) -> Changed:
        async with patience.waiting():
            (claimed,) = await claim(transaction, namespace, [uid])
        stored = None if claimed.kind is None else await read_stored(transaction, namespace, uid)
        wanted = decide(stored)
        if isinstance(wanted, Unchanged):
            return Changed("unchanged", await _hydrated(transaction, namespace, wanted.uid))
        new = wanted.item
        if new.uid != uid:
            await keep_revisions(transaction, namespace, [uid], provenance)
            (claimed,) = await claim(transaction, namespace, [new.uid])
        if claimed.kind not in (None, new.kind):
            raise ConstraintViolated(f"a {claimed.kind} has the uid {new.uid!r}")
        # All corrections of a fact share one uid: if it was forgotten, only the words are held back.
        said = said_by(new) if new.uid == uid else replace(said_by(new), uid="")
        if await hold_back(transaction, namespace, [said]):
            raise ItemForgotten
        await put_judged(transaction, namespace, [wanted], [new.uid] if claimed.kind else [], provenance)
        await propose(transaction, namespace, proposed)
        outcome: Literal["added", "updated"] = "updated" if claimed.kind else "added"
        return Changed(outcome, await _hydrated(transaction, namespace, new.uid))

    return await executor.transaction("change_item", work)


async def list_items(
    executor: Executor, where: ItemFilter, order: Order, *, limit: int, after: Position | None = None
) -> list[Listed]:
    """Return up to `limit` items that pass `where`, by storage time and uid, starting after `after`.

    The order "latest" starts with the most recent event; it has no index, and its time grows with the items that pass.
    `after` is `created_at` of `Listed` and the uid of the previous item. Superseded facts are included unless `as_of`
    excludes them.
    """
    params = filter_params(where) | {"limit": limit}
    if order in ("newest", "latest"):
        time, uid = after or _LAST
        statement = "list_newest" if order == "newest" else "list_latest"
        rows = await executor.fetch_all(statement, params | {"before_time": time, "before_uid": uid})
    else:
        time, uid = after or _FIRST
        rows = await executor.fetch_all("list_oldest", params | {"after_time": time, "after_uid": uid})
    return [Listed(found_item(row), row["created_at"]) for row in rows]


@dataclass(frozen=True, slots=True)
class Neighbour:
    """An item next to another; `role` is the author of a message, else the kind."""

    uid: str
    name: str
    role: str | None


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The turns before and after a message, and the facts and memories that cite an item."""

    before: Neighbour | None
    after: Neighbour | None
    cited_by: Sequence[Neighbour]


async def count_traits(executor: Executor, namespace: str, limit: int) -> dict[str, list[tuple[str, int]]]:
    """Return how many items have each value of kind, type, author, domain and month, the most frequent first.

    A trait has at most `limit` values; without an item there is no trait.
    """
    rows = await executor.fetch_all("count_traits", {"namespace": namespace, "limit": limit})
    return {row["trait"]: [(value, items) for value, items in row["counts"]] for row in rows}


async def item_names(executor: Executor, namespace: str, uids: Sequence[str]) -> dict[str, str]:
    """Return the names of existing items, by uid."""
    rows = await executor.fetch_all("item_names", {"namespace": namespace, "uids": list(uids)})
    return {row["uid"]: row["name"] for row in rows}


async def around_item(executor: Executor, namespace: str, uid: str, limit: int) -> Surroundings | None:
    """Return the surroundings of an item with at most `limit` items that cite it, or None."""
    rows = await executor.fetch_all("around_item", {"namespace": namespace, "uid": uid, "limit": limit})
    if not rows:
        return None
    before, after = (None if rows[0][side] is None else Neighbour(*rows[0][side]) for side in ("before", "after"))
    return Surroundings(before, after, [Neighbour(*found) for found in rows[0]["cited_by"]])


async def list_revisions(executor: Executor, namespace: str, uid: str) -> list[Revision] | None:
    """Return the item's revisions, newest first; None if there is no such item."""
    rows = await executor.fetch_all("list_revisions", {"namespace": namespace, "uid": uid})
    if not rows:
        return None
    return [_revision(row["revision"]) for row in rows if row["revision"] is not None]


async def read_stored(transaction: Transaction, namespace: str, uid: str) -> StoredItem:
    """Return an existing item as it is before a change."""
    (row,) = await transaction.run("read_for_change", {"namespace": namespace, "uid": uid})
    item = item_of(row["item"])
    if isinstance(item, Fact) and row["stated_valid_to"] is not None:
        item = replace(item, valid_to=native(row["stated_valid_to"]))
    newer = (item_of(properties) for properties in row["superseded_by"])
    return StoredItem(item, [fact for fact in newer if isinstance(fact, Fact)])


async def _hydrated(transaction: Transaction, namespace: str, uid: str) -> Item:
    (row,) = await transaction.run("hydrate_items", {"namespace": namespace, "uids": [uid]})
    (found,) = row["found"]
    return found_item(found)


def _revision(properties: Row) -> Revision:
    return Revision(
        revision_id=properties["revision_id"],
        reason=properties["reason"],
        actor=properties.get("actor"),
        revised_at=native(properties["revised_at"]),
        item=item_of(properties),
    )
