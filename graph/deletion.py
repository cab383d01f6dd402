"""Deletion of items with everything attached to them."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice

from graph.executor import Executor, Row, Transaction
from graph.ingest import report_relinked
from graph.patience import Patience
from graph.search import filter_params
from graph.support import settle
from graph.tombstones import leave, read_texts
from graph.types import Cascade, Change, ItemAction, ItemFilter, Kind, Provenance

CHUNK_ITEMS = 1000
"""Items per transaction: its memory stays small, and others wait for its locks for at most a second."""


async def select_items(executor: Executor, where: ItemFilter, uids: Sequence[str] | None = None) -> dict[str, int]:
    """Return version by uid of every item that passes `where`, ordered by uid; superseded facts included unless `as_of`
    excludes them. With `uids` only those are considered.
    """
    params = filter_params(where)
    if uids is None:
        rows = await executor.fetch_all("select_items", params)
    else:
        rows = await executor.fetch_all("select_items_by_uid", params | {"uids": list(uids)})
    return {row["uid"]: row["version"] for row in rows}


async def versions_of(executor: Executor, namespace: str, uids: Iterable[str]) -> dict[str, int]:
    """Return version by uid of those of `uids` that exist, ordered by uid."""
    rows = await executor.fetch_all("versions_of_items", {"namespace": namespace, "uids": list(uids)})
    return {row["uid"]: row["version"] for row in rows}


async def count_cascade(executor: Executor, namespace: str, uids: Iterable[str]) -> Cascade:
    """Return what a deletion of `uids` would remove."""
    (row,) = await executor.fetch_all("count_cascade", {"namespace": namespace, "uids": list(uids)})
    return cascade_of({Kind(count["kind"]): count["items"] for count in row["by_kind"]}, row)


async def delete_items(
    executor: Executor,
    namespace: str,
    versions: Mapping[str, int],
    *,
    forgotten: Provenance | None = None,
    words: bool = True,
) -> tuple[Cascade, int]:
    """Delete each item that still has its version in `versions`, a thousand per transaction, in the given order.

    With `forgotten` they leave tombstones, of their uids alone unless `words`. Returns what was deleted, and how many
    items stay because their version has changed.
    """
    gone, kept = Cascade({}), 0
    left = iter(versions.items())
    while chunk := dict(islice(left, CHUNK_ITEMS)):
        gone_now, kept_now = await _delete_chunk(executor, namespace, chunk, forgotten, words=words)
        gone, kept = gone + gone_now, kept + kept_now
    return gone, kept


async def delete_item(
    executor: Executor,
    namespace: str,
    uid: str,
    check: Callable[[int | None], None],
    *,
    forgotten: Provenance | None = None,
) -> Cascade:
    """Delete one item; with `forgotten` it leaves a tombstone. `check` gets its version, or None if there is no such
    item, and may raise to keep it. Raises ItemBusy.
    """
    patience = Patience()

    async def work(transaction: Transaction) -> Cascade:
        texts = await read_texts(transaction, namespace, [uid]) if forgotten else None
        async with patience.waiting():
            rows = await _lock(transaction, namespace, [uid])
        check(rows[0]["version"] if rows else None)
        if forgotten:
            await leave(transaction, namespace, _versions(rows), texts, forgotten.actor)
        return await _delete(transaction, namespace, rows, forgotten)

    return await executor.transaction("delete_item", work)


async def take_away(transaction: Transaction, namespace: str, uids: Sequence[str]) -> None:
    """Delete items within a transaction, without tombstones."""
    await _delete(transaction, namespace, await _lock(transaction, namespace, sorted(uids)), None)


async def _delete_chunk(
    executor: Executor, namespace: str, versions: Mapping[str, int], forgotten: Provenance | None, *, words: bool
) -> tuple[Cascade, int]:
    async def work(transaction: Transaction) -> tuple[Cascade, int]:
        texts = await read_texts(transaction, namespace, list(versions)) if forgotten and words else None
        rows = await _lock(transaction, namespace, sorted(versions))
        doomed = [row for row in rows if row["version"] == versions[row["uid"]]]
        if forgotten:
            await leave(transaction, namespace, _versions(doomed), texts, forgotten.actor)
        return await _delete(transaction, namespace, doomed, forgotten), len(rows) - len(doomed)

    return await executor.transaction("delete_items", work)


async def _lock(transaction: Transaction, namespace: str, uids: Sequence[str]) -> list[Row]:
    return await transaction.run("lock_items", {"namespace": namespace, "uids": list(uids)})


def _versions(locked: Iterable[Row]) -> dict[str, int]:
    return {row["uid"]: row["version"] for row in locked}


async def _delete(
    transaction: Transaction, namespace: str, locked: Sequence[Row], forgotten: Provenance | None
) -> Cascade:
    params = {"namespace": namespace, "doomed": [row["uid"] for row in locked]}
    (row,) = await transaction.run("delete_items", params)
    # Facts that superseded the same ones as a deleted fact close them again.
    await transaction.run("link_references", {"namespace": namespace})
    action: ItemAction = "forgotten" if forgotten else "deleted"
    transaction.changed(namespace, (Change(action, row["kind"], row["uid"]) for row in locked if row["kind"]))
    await report_relinked(transaction, namespace)
    await settle(transaction, namespace)
    return cascade_of(Counter(Kind(row["kind"]) for row in locked if row["kind"]), row)


def cascade_of(by_kind: Mapping[Kind, int], row: Row) -> Cascade:
    """Return the counts in a row of the statement `delete_items` or `count_cascade`."""
    return Cascade(
        by_kind=by_kind,
        edges=row["edges"],
        evidence_links=row["evidence_links"],
        revisions=row["revisions"],
        embeddings=row["embeddings"],
    )
