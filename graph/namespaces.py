"""Whole namespaces: contents and deletion."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from itertools import islice
from typing import Any

from graph.deletion import cascade_of, delete_items
from graph.executor import Executor, Transaction
from graph.files import delete_unchanged_files
from graph.types import Cascade, Change, Kind

# Few enough nodes for a small server's memory, enough to delete tens of thousands per second.
_NODES_AT_ONCE = 1000
_FILES_AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class NamespaceCounts:
    """Items of one namespace by kind; `pending` ones lack a vector in the active space."""

    namespace: str
    by_kind: Mapping[str, int]
    pending: int


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Contents of a namespace at `moment` (server time): versions by uid in the order of deletion, and files by path
    with the time they were stored, as text.
    """

    moment: Any
    versions: Mapping[str, int] = field(repr=False)
    files: Mapping[str, str | None] = field(repr=False)


async def list_namespaces(executor: Executor) -> list[NamespaceCounts]:
    """Return every namespace that holds an item, by name."""
    by_kind: dict[str, dict[str, int]] = {}
    pending: dict[str, int] = {}
    for row in await executor.fetch_all("list_namespaces"):
        namespace = row["namespace"]
        by_kind.setdefault(namespace, {})[row["kind"]] = row["items"]
        pending[namespace] = pending.get(namespace, 0) + row["pending"]
    return [NamespaceCounts(namespace, kinds, pending[namespace]) for namespace, kinds in by_kind.items()]


async def holdings(executor: Executor, namespace: str) -> tuple[Cascade, list[Any]]:
    """Return counts of what `namespace` holds, none if nobody has used it, and marks that differ after every change of
    an item or edge.
    """
    found = await executor.fetch_all("count_namespace", {"namespace": namespace})
    # An item deleted while it is counted has no kind.
    rows = [row for row in found if row["kind"] is not None]
    held = sum((cascade_of({Kind(row["kind"]): row["items"]}, row) for row in rows), Cascade({}))
    return held, [[row["kind"], row["versions"], row["changed_at"], row["linked_at"]] for row in rows]


async def sample(executor: Executor, namespace: str, limit: int) -> list[tuple[str, str, str]]:
    """Return uid, kind and name of some items, lowest uids first."""
    rows = await executor.fetch_all("sample_namespace", {"namespace": namespace, "limit": limit})
    return [(row["uid"], row["kind"], row["name"]) for row in rows]


async def exists(executor: Executor, namespace: str) -> bool:
    """Return whether any node names `namespace`: an interrupted deletion may leave some without an item."""
    row = await executor.fetch_one("namespace_exists", {"namespace": namespace})
    return bool(row and row["found"])


async def take_snapshot(executor: Executor, namespace: str) -> Snapshot:
    """Return the current contents of `namespace`, to tell them from what comes later."""
    clock = await executor.fetch_one("server_clock")
    where = {"namespace": namespace}
    files = await executor.fetch_all("snapshot_namespace_files", where)
    items = await executor.fetch_all("snapshot_namespace_items", where)
    older = {row["uid"]: row["supersedes"] for row in items if row["supersedes"]}
    superseded_first = {uid: rank for rank, uid in enumerate(_in_order(older))}
    # Items go before those they refer to, and facts before those that supersede them: the deletion itself links nothing
    # anew and raises no version.
    items.sort(key=lambda row: (not row["holds_references"], superseded_first.get(row["uid"], -1), row["uid"]))
    return Snapshot(
        moment=clock["now"] if clock else None,
        versions={row["uid"]: row["version"] for row in items},
        files={row["path"]: row["indexed_at"] for row in files},
    )


async def delete_snapshot(executor: Executor, namespace: str, seen: Snapshot) -> tuple[Cascade, int]:
    """Delete whatever has not changed since it was `seen`, in batches, and then what nothing needs any longer. Returns
    what was deleted, and how many items and files stay because they were changed or stored again since. The next call
    completes an interrupted deletion.
    """
    while await _delete_some(executor, "delete_namespace_answers", namespace):
        pass
    gone, kept = await delete_items(executor, namespace, seen.versions)
    paths = iter(seen.files.items())
    while batch := dict(islice(paths, _FILES_AT_ONCE)):
        gone_now, kept_now = await delete_unchanged_files(executor, namespace, batch)
        gone, kept = gone + gone_now, kept + kept_now
    unused = {"namespace": namespace, "made_before": seen.moment, "limit": _NODES_AT_ONCE}
    while (await executor.write("delete_namespace_unused", unused))[0]["deleted"]:
        pass
    return gone, kept


def _in_order(older: Mapping[str, Sequence[str]]) -> Iterable[str]:
    """Yield facts, superseded ones before those that supersede them; in any order within a cycle."""
    try:
        return list(TopologicalSorter(older).static_order())
    except CycleError:
        return sorted(older)


async def delete_namespace(executor: Executor, namespace: str) -> None:
    """Delete every node of `namespace`, in batches, whatever is written there meanwhile. The next call completes an
    interrupted deletion.

    Stored responses go first, since they alone do not make a namespace; a running request keeps its key.
    """
    while await _delete_some(executor, "delete_namespace_answers", namespace):
        pass
    for statement in ("delete_namespace_items", "delete_namespace_rest"):
        while await _delete_reported(executor, statement, namespace):
            pass


async def _delete_some(executor: Executor, statement: str, namespace: str) -> int:
    rows = await executor.write(statement, {"namespace": namespace, "limit": _NODES_AT_ONCE})
    return int(rows[0]["deleted"])


async def _delete_reported(executor: Executor, statement: str, namespace: str) -> int:
    """Delete some nodes, and report the items and files among them to the change feed."""

    async def work(transaction: Transaction) -> int:
        (row,) = await transaction.run(statement, {"namespace": namespace, "limit": _NODES_AT_ONCE})
        gone = ((kind, uid) for kind, uid in row["gone"] if kind != Kind.FILE_CHUNK)
        transaction.changed(namespace, (Change("deleted", kind, uid) for kind, uid in gone))
        return int(row["deleted"])

    return await executor.transaction(statement, work)
