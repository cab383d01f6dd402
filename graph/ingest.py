"""Writing items and edges: one batch is one transaction."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graph.citations import put_citations
from graph.edges import EDGE, NewEdge
from graph.executor import Executor, Transaction
from graph.facts import Succession, propose
from graph.item import Fact, Item, Memory, Message, NewItem, written_properties
from graph.patience import Patience
from graph.support import miss_forgotten, settle
from graph.tokens import item_tokens
from graph.tombstones import forgotten_uids, hold_back, mark_resembling, said_by
from graph.types import FOREVER, UNKNOWN_TIME, Change, EdgeAction, Kind, Provenance, Stored

_PUT_STATEMENT = {Kind.MESSAGE: "put_messages", Kind.FACT: "put_facts", Kind.MEMORY: "put_memories"}
_RELINKED_AT_ONCE = 20
_BY_INGEST = Provenance("ingest")


@dataclass(frozen=True, slots=True)
class Claimed:
    """An item as it was when locked; `kind` is None for a new one."""

    uid: str
    kind: Kind | None
    source_hash: str | None


async def store_batch(
    executor: Executor,
    namespace: str,
    items: Sequence[NewItem],
    edges: Sequence[NewEdge] = (),
    provenance: Provenance = _BY_INGEST,
    *,
    proposed: Sequence[Succession] = (),
    even_if_forgotten: bool = False,
) -> Stored:
    """Create or replace `items`, then create `edges` and store the `proposed` supersessions, all or nothing.

    Forgotten items are held back unless `even_if_forgotten`.

    Items whose `source_hash` is already stored stay unchanged, which preserves the edits of sweeps and people. Of two
    items with one uid the later wins. A replaced fact or memory keeps a revision; an item whose text changed becomes
    pending again. Raises ItemBusy.
    """
    patience = Patience()

    async def work(transaction: Transaction) -> Stored:
        stored = await _store(
            transaction, namespace, items, edges, provenance, patience, even_if_forgotten=even_if_forgotten
        )
        await propose(transaction, namespace, proposed)
        return stored

    return await executor.transaction("store_batch", work)


async def finish_ingest(executor: Executor, namespace: str) -> int:
    """Derive links that span batches: late references and the NEXT order. Returns how many facts still wait for
    references.
    """

    async def link(transaction: Transaction) -> int:
        waiting = await transaction.run("link_references", {"namespace": namespace})
        await report_relinked(transaction, namespace)
        await settle(transaction, namespace)
        return int(waiting[0]["waiting"]) if waiting else 0

    waiting = await executor.transaction("link_references", link)
    await link_order(executor, namespace)
    return waiting


async def link_order(executor: Executor, namespace: str) -> None:
    """Derive the NEXT order of conversations that have changed."""
    while True:
        done = await executor.write("link_conversation_order", {"namespace": namespace, "limit": _RELINKED_AT_ONCE})
        if not done or done[0]["linked"] < _RELINKED_AT_ONCE:
            return


async def claim(transaction: Transaction, namespace: str, uids: Iterable[str]) -> list[Claimed]:
    """Create the new items and lock all until the transaction ends; new ones must be put before that."""
    rows = await transaction.run("claim_items", {"namespace": namespace, "uids": sorted(uids)})
    return [Claimed(row["uid"], Kind(row["kind"]) if row["kind"] else None, row["source_hash"]) for row in rows]


async def put_new(
    transaction: Transaction,
    namespace: str,
    items: Sequence[NewItem],
    provenance: Provenance,
    proposed: Sequence[Succession] = (),
) -> None:
    """Write those items that do not exist and were not forgotten, then the supersessions to decide."""
    by_uid = {new.item.uid: new for new in items}
    claimed = [locked.uid for locked in await claim(transaction, namespace, by_uid) if locked.kind is None]
    held = await _held_back(transaction, namespace, [by_uid[uid] for uid in claimed], even_if_forgotten=False)
    await put_judged(transaction, namespace, [by_uid[uid] for uid in claimed if uid not in held], (), provenance)
    await propose(transaction, namespace, proposed)


async def keep_revisions(transaction: Transaction, namespace: str, uids: Sequence[str], provenance: Provenance) -> None:
    """Keep revisions of the facts and memories among locked items before a change."""
    params = {"namespace": namespace, "uids": uids, "reason": provenance.reason, "actor": provenance.actor}
    await transaction.run("keep_revisions", params)


async def put(
    transaction: Transaction,
    namespace: str,
    items: Sequence[NewItem],
    replaced: Collection[str],
    provenance: Provenance,
) -> None:
    """Write claimed items; those whose uids are `replaced` already existed, with the same kind."""
    before = [new for new in items if new.item.uid in replaced]
    if before:
        await _keep_and_clear(transaction, namespace, before, provenance)
    for kind, statement in _PUT_STATEMENT.items():
        rows = [_row(namespace, new) for new in items if new.item.kind is kind]
        if rows:
            forever = {"forever": FOREVER} if kind is Kind.FACT else {}
            await transaction.run(statement, {"namespace": namespace, "rows": rows} | forever)
    transaction.changed(namespace, (_change(new.item, replaced) for new in items))
    linked = any(
        isinstance(new.item, Fact) or (isinstance(new.item, Memory) and new.item.evidence_refs) for new in items
    )
    if linked:
        await transaction.run("link_references", {"namespace": namespace})
    cited = {new.item.uid: new.item.evidence_refs for new in items if isinstance(new.item, Fact | Memory)}
    await miss_forgotten(transaction, namespace, cited)
    if linked or before:
        await report_relinked(transaction, namespace)
    await put_citations(transaction, namespace, items)
    if before:
        params = {"namespace": namespace, "uids": _uids(before), "unknown_time": UNKNOWN_TIME, "forever": FOREVER}
        await transaction.run("copy_to_embeddings", params)
    await settle(transaction, namespace)


async def put_judged(
    transaction: Transaction,
    namespace: str,
    items: Sequence[NewItem],
    replaced: Collection[str],
    provenance: Provenance,
    *,
    judge: bool = True,
) -> list[str]:
    """`put` incoming items, and return the uids of those that may reword something forgotten; none without `judge`."""
    await put(transaction, namespace, items, replaced, provenance)
    said = [said_by(new.item) for new in items] if judge else []
    return await mark_resembling(transaction, namespace, said)


async def report_relinked(transaction: Transaction, namespace: str) -> None:
    """Report facts to the change feed that are superseded, or hold again, because of writes to others."""
    rows = await transaction.run("take_relinked", {"namespace": namespace})
    transaction.changed(
        namespace,
        (Change("superseded" if row["superseded"] else "reopened", Kind.FACT, row["uid"]) for row in rows),
    )


def _change(item: Item, replaced: Collection[str]) -> Change:
    """Return the change feed's entry for a written item."""
    if item.uid not in replaced:
        return Change("added", item.kind, item.uid)
    ended = isinstance(item, Fact) and item.valid_to is not None and item.valid_to < FOREVER
    return Change("ended" if ended else "changed", item.kind, item.uid)


async def _store(
    transaction: Transaction,
    namespace: str,
    items: Sequence[NewItem],
    edges: Sequence[NewEdge],
    provenance: Provenance,
    patience: Patience,
    *,
    even_if_forgotten: bool,
) -> Stored:
    latest = {new.item.uid: new for new in items}
    existing = await transaction.run("known_items", {"namespace": namespace, "uids": list(latest)})
    # Most rows of a repeated ingest stop here, without a lock.
    unchanged = [row["uid"] for row in existing if _same(latest[row["uid"]], row["kind"], row["source_hash"])]
    async with patience.waiting():
        claimed = await claim(transaction, namespace, latest.keys() - set(unchanged))
    unchanged += [locked.uid for locked in claimed if _same(latest[locked.uid], locked.kind, locked.source_hash)]
    clashes = [locked.uid for locked in claimed if locked.kind not in (None, latest[locked.uid].item.kind)]
    added = [locked.uid for locked in claimed if locked.kind is None]
    updated = [locked.uid for locked in claimed if locked.uid not in {*unchanged, *clashes, *added}]
    incoming = [latest[uid] for uid in (*added, *updated)]
    held = await _held_back(transaction, namespace, incoming, even_if_forgotten=even_if_forgotten)
    added, updated = ([uid for uid in uids if uid not in held] for uids in (added, updated))
    stored = [latest[uid] for uid in sorted([*added, *updated])]
    resembling = await put_judged(transaction, namespace, stored, updated, provenance, judge=not even_if_forgotten)
    results = await _put_edges(transaction, namespace, edges)
    dangling = {row["line"]: row["missing"] for row in results if row["missing"]}
    edges_held = await _edges_of_forgotten(transaction, namespace, dangling, held)
    return Stored(
        added=added,
        updated=updated,
        unchanged=unchanged,
        clashes=clashes,
        edges_added=[row["line"] for row in results if not row["missing"] and row["created"]],
        edges_known=[row["line"] for row in results if not row["missing"] and not row["created"]],
        edges_dangling={line: missing for line, missing in dangling.items() if line not in edges_held},
        held_back=sorted(held),
        edges_held_back=edges_held,
        resembling=resembling,
    )


async def _held_back(
    transaction: Transaction, namespace: str, claimed: Iterable[NewItem], *, even_if_forgotten: bool
) -> set[str]:
    """Return the uids of claimed items that were forgotten, and release them.

    Only under the locks: a concurrent deletion has finished, or waits.
    """
    incoming = [said_by(new.item) for new in claimed]
    held = await hold_back(transaction, namespace, incoming, lift=even_if_forgotten)
    if held:
        await transaction.run("release_claims", {"namespace": namespace, "uids": sorted(held)})
    return set(held)


async def _edges_of_forgotten(
    transaction: Transaction, namespace: str, dangling: Mapping[int, Sequence[str]], held: set[str]
) -> list[int]:
    """Return the lines of edges whose missing ends were all forgotten."""
    missing = {uid for uids in dangling.values() for uid in uids}
    forgotten = held.union(await forgotten_uids(transaction, namespace, missing))
    return [line for line, uids in dangling.items() if forgotten.issuperset(uids)]


def _same(new: NewItem, kind: str | None, source_hash: str | None) -> bool:
    return (new.item.kind, new.item.source_hash) == (kind, source_hash)


async def _keep_and_clear(
    transaction: Transaction, namespace: str, items: Sequence[NewItem], provenance: Provenance
) -> None:
    """Keep revisions of items about to be replaced, and delete what belongs to their old texts."""
    uids = _uids(items)
    await keep_revisions(transaction, namespace, uids, provenance)
    rows = [_row(namespace, new) for new in items]
    reworded = [row for row, new in zip(rows, items, strict=True) if not new.same_words]
    await transaction.run("drop_stale_embeddings", {"namespace": namespace, "rows": reworded})
    await transaction.run("unlink_facts", {"namespace": namespace, "rows": rows})
    no_longer_cjk = [new.item.uid for new in items if not new.cjk]
    await transaction.run("drop_cjk_labels", {"namespace": namespace, "uids": no_longer_cjk})


def _uids(items: Sequence[NewItem]) -> list[str]:
    return [new.item.uid for new in items]


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
            "properties": edge.properties(),
        }
        for edge in edges
    ]
    stored = await transaction.run("put_edges", {"namespace": namespace, "rows": rows})
    drawn = {row["line"]: row for row in stored if row["edge_id"] is not None}
    transaction.changed(namespace, (_drawn(edge, drawn[edge.line]) for edge in edges if edge.line in drawn))
    return stored


def _drawn(edge: NewEdge, row: Mapping[str, Any]) -> Change:
    action: EdgeAction = "accepted" if row["accepted"] else "added"
    return Change(action, EDGE, row["edge_id"], edge.type, edge.source, edge.target)


def _row(namespace: str, new: NewItem) -> dict[str, Any]:
    item = new.item
    author = item.author_name if isinstance(item, Message) else None
    derived = {"search_text": new.search_text, "tokens": item_tokens(namespace, item.kind, author)}
    return {
        "uid": item.uid,
        "properties": written_properties(item) | derived,
        "labels": [*(["CjkText"] if new.cjk else []), *(["PendingFacts"] if new.read else [])],
        "conversation_id": item.conversation_id if isinstance(item, Message) else None,
        "person_id": item.person_id if isinstance(item, Fact) else None,
    }
