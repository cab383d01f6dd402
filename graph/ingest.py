"""Writing items and edges: one batch is one transaction."""

from collections.abc import Sequence
from typing import Any

from graph.executor import Executor, Transaction
from graph.tokens import item_tokens
from graph.types import Kind, NewEdge, NewItem, Stored

_PUT_STATEMENT = {Kind.MESSAGE: "put_messages", Kind.FACT: "put_facts", Kind.MEMORY: "put_memories"}
_RELINKED_AT_ONCE = 20


async def store_batch(
    executor: Executor, namespace: str, items: Sequence[NewItem], edges: Sequence[NewEdge] = ()
) -> Stored:
    """Create or replace `items`, then create `edges`, all or nothing.

    Items whose `source_hash` is stored already are left as they are, so that what a sweep made of them survives. Of two
    items with one uid the later wins. A replaced fact or memory keeps a revision; a replaced item becomes pending
    again.
    """

    async def work(transaction: Transaction) -> Stored:
        return await _store(transaction, namespace, items, edges)

    return await executor.transaction("store_batch", work)


async def finish_ingest(executor: Executor, namespace: str) -> int:
    """Derive what spans batches: late references and the NEXT order. Returns how many facts still wait for
    references.
    """
    waiting = await executor.write("link_references", {"namespace": namespace})
    while True:
        done = await executor.write("link_conversation_order", {"namespace": namespace, "limit": _RELINKED_AT_ONCE})
        if not done or done[0]["linked"] < _RELINKED_AT_ONCE:
            return int(waiting[0]["waiting"]) if waiting else 0


async def _store(
    transaction: Transaction, namespace: str, items: Sequence[NewItem], edges: Sequence[NewEdge]
) -> Stored:
    latest = {item.uid: item for item in items}
    known_rows = await transaction.run("known_items", {"namespace": namespace, "uids": list(latest)})
    known = {row["uid"]: row for row in known_rows}
    clashes = [uid for uid, row in known.items() if row["kind"] != latest[uid].kind]
    unchanged = [
        uid for uid, row in known.items() if uid not in clashes and row["source_hash"] == latest[uid].source_hash
    ]
    updated = [uid for uid in known if uid not in clashes and uid not in unchanged]
    added = [uid for uid in latest if uid not in known]
    if updated:
        await _clear_replaced(transaction, namespace, [latest[uid] for uid in updated])
    await _put(transaction, namespace, [latest[uid] for uid in sorted([*added, *updated])])
    results = await _put_edges(transaction, namespace, edges)
    return Stored(
        added=added,
        updated=updated,
        unchanged=unchanged,
        clashes=clashes,
        edges_added=[row["line"] for row in results if row["found"] and row["created"]],
        edges_known=[row["line"] for row in results if row["found"] and not row["created"]],
        edges_dangling=[row["line"] for row in results if not row["found"]],
    )


async def _clear_replaced(transaction: Transaction, namespace: str, items: Sequence[NewItem]) -> None:
    uids = [item.uid for item in items]
    await transaction.run("keep_revisions", {"namespace": namespace, "uids": uids, "reason": "ingest"})
    await transaction.run("drop_embeddings", {"namespace": namespace, "uids": uids})
    no_longer_cjk = [item.uid for item in items if not item.cjk]
    await transaction.run("drop_cjk_labels", {"namespace": namespace, "uids": no_longer_cjk})


async def _put(transaction: Transaction, namespace: str, items: Sequence[NewItem]) -> None:
    """Write items sorted by uid, so that two writers take locks in one order."""
    for kind, statement in _PUT_STATEMENT.items():
        rows = [_row(namespace, item) for item in items if item.kind is kind]
        if rows:
            await transaction.run(statement, {"namespace": namespace, "rows": rows})
    if any(item.kind is Kind.FACT for item in items):
        await transaction.run("link_references", {"namespace": namespace})


async def _put_edges(transaction: Transaction, namespace: str, edges: Sequence[NewEdge]) -> list[dict[str, Any]]:
    if not edges:
        return []
    rows = [
        {
            "line": edge.line,
            "source": edge.source,
            "target": edge.target,
            "type": edge.type.value,
            "edge_id": edge.edge_id,
            "properties": dict(edge.properties),
        }
        for edge in edges
    ]
    return await transaction.run("put_edges", {"namespace": namespace, "rows": rows})


def _row(namespace: str, item: NewItem) -> dict[str, Any]:
    author = item.properties.get("author_name")
    properties = {
        **item.properties,
        "kind": item.kind.value,
        "source_hash": item.source_hash,
        "tokens": item_tokens(namespace, item.kind, author),
    }
    return {
        "uid": item.uid,
        "properties": properties,
        "labels": ["CjkText"] if item.cjk else [],
        "conversation_id": item.conversation_id,
        "person_id": item.person_id,
    }
