"""One item: changing it under a lock, its history; and pages of items."""

from collections.abc import Callable, Mapping
from typing import Any, Literal

from graph.errors import ConstraintViolated
from graph.executor import Executor, Row, Transaction
from graph.ingest import claim, keep_revisions, put
from graph.search import filter_params, found_item
from graph.types import AsIs, Changed, FoundItem, ItemFilter, Kind, Listed, NewItem, Provenance, StoredItem, native

Decide = Callable[[StoredItem | None], NewItem | AsIs]
Order = Literal["newest", "oldest"]
Position = tuple[str, str]

_FIRST: Position = ("0001-01-01T00:00:00Z", "")
_LAST: Position = ("9999-12-31T23:59:59Z", "")


async def change_item(executor: Executor, namespace: str, uid: str, decide: Decide, provenance: Provenance) -> Changed:
    """Lock the item `uid`, let `decide` say what to write instead, and write that.

    `decide` gets None where there is no such item, and never says of that that it is as wanted; what it raises ends the
    change with nothing written. It may run more than once, and may answer with an item of another uid: a fact that
    supersedes this one, which keeps a revision too. Nobody else changes the item between what `decide` sees and what it
    leads to.
    """

    async def work(transaction: Transaction) -> Changed:
        (claimed,) = await claim(transaction, namespace, [uid])
        stored = None if claimed.kind is None else await _read(transaction, namespace, uid)
        wanted = decide(stored)
        if isinstance(wanted, AsIs):
            return Changed("unchanged", await _hydrated(transaction, namespace, wanted.uid))
        if wanted.uid != uid:
            await keep_revisions(transaction, namespace, [uid], provenance)
            (claimed,) = await claim(transaction, namespace, [wanted.uid])
        if claimed.kind not in (None, wanted.kind):
            raise ConstraintViolated(f"a {claimed.kind} has the uid {wanted.uid!r}")
        await put(transaction, namespace, [wanted], [wanted.uid] if claimed.kind else [], provenance)
        outcome: Literal["added", "updated"] = "updated" if claimed.kind else "added"
        return Changed(outcome, await _hydrated(transaction, namespace, wanted.uid))

    return await executor.transaction("change_item", work)


async def list_items(
    executor: Executor, where: ItemFilter, order: Order, *, limit: int, after: Position | None = None
) -> list[Listed]:
    """Up to `limit` items that pass `where`, by the time they were stored and then uid, from behind `after` on.

    `after` is `created_at` of `Listed` and the uid of the last item before. Superseded facts are listed too, unless
    `as_of` says otherwise.
    """
    params = filter_params(where) | {"limit": limit}
    if order == "newest":
        time, uid = after or _LAST
        rows = await executor.fetch_all("list_newest", params | {"before_time": time, "before_uid": uid})
    else:
        time, uid = after or _FIRST
        rows = await executor.fetch_all("list_oldest", params | {"after_time": time, "after_uid": uid})
    return [Listed(found_item(row), row["created_at"]) for row in rows]


async def list_revisions(executor: Executor, namespace: str, uid: str) -> list[Mapping[str, Any]] | None:
    """The properties of the item's revisions, newest first; None where there is no such item."""
    rows = await executor.fetch_all("list_revisions", {"namespace": namespace, "uid": uid})
    if not rows:
        return None
    return [native(row["revision"]) for row in rows if row["revision"] is not None]


async def _read(transaction: Transaction, namespace: str, uid: str) -> StoredItem:
    (row,) = await transaction.run("read_for_change", {"namespace": namespace, "uid": uid})
    properties = _properties(row["item"])
    if row["stated_valid_to"] is not None:
        properties["valid_to"] = native(row["stated_valid_to"])
    return StoredItem(
        uid=uid,
        kind=Kind(properties["kind"]),
        version=properties.get("version", 1),
        source_hash=properties.get("source_hash"),
        properties=properties,
        superseded_by=[_properties(newer) for newer in row["superseded_by"]],
    )


async def _hydrated(transaction: Transaction, namespace: str, uid: str) -> FoundItem:
    (row,) = await transaction.run("hydrate_items", {"namespace": namespace, "uids": [uid]})
    (item,) = row["found"]
    return found_item(item)


def _properties(item: Row) -> dict[str, Any]:
    return {name: native(value) for name, value in item.items() if value is not None}
