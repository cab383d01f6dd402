"""Namespaces as a whole: what each holds, and taking one away."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graph.executor import Executor

# Few enough nodes for a small server's memory, enough to delete tens of thousands a second.
_NODES_AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class NamespaceCounts:
    """Items of one namespace by kind; `pending` ones lack a vector in the active space."""

    namespace: str
    by_kind: Mapping[str, int]
    pending: int


@dataclass(frozen=True, slots=True)
class Holdings:
    """All that hangs on a namespace's items; `marks` differ after every change of an item or edge."""

    by_kind: Mapping[str, int]
    edges: int
    evidence_links: int
    revisions: int
    embeddings: int
    marks: Sequence[Any]


async def list_namespaces(executor: Executor) -> list[NamespaceCounts]:
    """Every namespace that holds an item, by name."""
    by_kind: dict[str, dict[str, int]] = {}
    pending: dict[str, int] = {}
    for row in await executor.fetch_all("list_namespaces"):
        namespace = row["namespace"]
        by_kind.setdefault(namespace, {})[row["kind"]] = row["items"]
        pending[namespace] = pending.get(namespace, 0) + row["pending"]
    return [NamespaceCounts(namespace, kinds, pending[namespace]) for namespace, kinds in by_kind.items()]


async def holdings(executor: Executor, namespace: str) -> Holdings:
    """What `namespace` holds; nothing where nobody used it."""
    found = await executor.fetch_all("count_namespace", {"namespace": namespace})
    # An item that is deleted while it is counted has no kind any more.
    rows = [row for row in found if row["kind"] is not None]
    return Holdings(
        by_kind={row["kind"]: row["items"] for row in rows},
        edges=sum(row["edges"] for row in rows),
        evidence_links=sum(row["evidence_links"] for row in rows),
        revisions=sum(row["revisions"] for row in rows),
        embeddings=sum(row["embeddings"] for row in rows),
        marks=[[row["kind"], row["versions"], row["changed_at"], row["linked_at"]] for row in rows],
    )


async def sample(executor: Executor, namespace: str, limit: int) -> list[tuple[str, str, str]]:
    """Uid, kind and name of some items, the lowest uids first."""
    rows = await executor.fetch_all("sample_namespace", {"namespace": namespace, "limit": limit})
    return [(row["uid"], row["kind"], row["name"]) for row in rows]


async def exists(executor: Executor, namespace: str) -> bool:
    """Whether any node names `namespace`: an interrupted deletion may leave some without an item."""
    row = await executor.fetch_one("namespace_exists", {"namespace": namespace})
    return bool(row and row["found"])


async def delete_namespace(executor: Executor, namespace: str) -> None:
    """Delete every node of `namespace`, some at a time. What an interruption leaves, the next call deletes.

    Kept answers go first, since they alone don't make a namespace; the key of a request that runs stays its own.
    """
    for statement in ("delete_namespace_answers", "delete_namespace_items", "delete_namespace_rest"):
        while await _delete_some(executor, statement, namespace):
            pass


async def _delete_some(executor: Executor, statement: str, namespace: str) -> int:
    rows = await executor.write(statement, {"namespace": namespace, "limit": _NODES_AT_ONCE})
    return int(rows[0]["deleted"])
