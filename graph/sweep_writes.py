"""Writes of a sweep: runs, chunks of changes, and undo.

A chunk of changes and the progress of its run are one transaction, so that after a crash the run resumes after the last
chunk. Writers hold the lease of the namespace until that transaction ends.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from graph.deletion import take_away
from graph.edges import EDGE
from graph.errors import LeaseLost
from graph.executor import Executor, Transaction
from graph.ingest import put, put_new
from graph.item import Memory, NewItem, memory_of
from graph.leases import Lease
from graph.sweep import (
    Applied,
    Chunk,
    Edge,
    KnownPair,
    ReadMessage,
    RecordedChange,
    Refusal,
    Rewrite,
    Status,
    Undone,
    known,
    pair_rows,
)
from graph.types import Change, EdgeAction, Provenance

_UNDO = "undo "


async def begin(
    executor: Executor, namespace: str, day: str, *, config: str, plan_hash: str | None, actor: str, progress: str
) -> str:
    """Record the start of a run and return its id. Only the holder of the namespace's lease may."""
    params = {"namespace": namespace, "day": day, "config": config, "plan_hash": plan_hash}
    (row,) = await executor.write("begin_sweep", {**params, "actor": actor, "progress": progress})
    return str(row["sweep_id"])


async def save(
    executor: Executor, namespace: str, sweep_id: str, lease: Lease, *, status: Status, progress: str
) -> None:
    """Keep a run's status and progress. Raises LeaseLost."""

    async def work(transaction: Transaction) -> None:
        await _save(transaction, namespace, sweep_id, lease, status, progress)

    await executor.transaction("save_sweep", work)


async def apply_chunk(
    executor: Executor,
    namespace: str,
    sweep_id: str,
    lease: Lease,
    chunk: Chunk,
    *,
    actor: str,
    first_seq: int,
    progress: Callable[[Applied], str],
    status: Status = "applying",
) -> Applied:
    """Apply a chunk in one transaction, and store the `status` of the run and the result of `progress` for the outcome.
    Applied changes are numbered from `first_seq` on, in order. Raises LeaseLost, with nothing written, also if the run
    was undone.
    """

    async def work(transaction: Transaction) -> Applied:
        versions = await _lock(transaction, namespace, chunk)
        refused = _refusals(chunk.needs, versions)
        drawn = await _draw(transaction, namespace, sweep_id, chunk.edges, versions)
        found_before = await _found_before(transaction, namespace, chunk.rows)
        held = [
            index
            for index, row in enumerate(chunk.rows)
            if index not in refused and row.edge_id in {None, *drawn} and row.fact_id not in found_before
        ]
        by = Provenance(sweep_id, actor)
        await _rewrite(transaction, namespace, chunk.rewrites, versions, by)
        await _expire(transaction, namespace, [chunk.rows[index] for index in held])
        kept = {chunk.rows[index].fact_id for index in held}
        facts = [new for uid, new in chunk.facts.items() if uid in kept]
        await put_new(transaction, namespace, facts, by, chunk.successions)
        rows = [_row(replace(chunk.rows[index], seq=seq)) for seq, index in enumerate(held, start=first_seq)]
        await transaction.run("put_sweep_changes", {"namespace": namespace, "sweep_id": sweep_id, "rows": rows})
        applied = Applied(held, refused)
        await _save(transaction, namespace, sweep_id, lease, status, progress(applied))
        return applied

    return await executor.transaction("apply_sweep", work)


async def have_read(executor: Executor, namespace: str, messages: Sequence[ReadMessage]) -> None:
    """Record that messages were read for facts, unless their words have changed since."""
    rows = [{"uid": message.item.uid, "version": message.item.version} for message in messages]
    await executor.write("have_read", {"namespace": namespace, "rows": rows})


async def undo_page(
    executor: Executor,
    namespace: str,
    sweep_id: str,
    lease: Lease,
    page: Sequence[RecordedChange],
    *,
    actor: str,
    restore: Callable[[Memory, Memory], NewItem],
    progress: str,
) -> Undone:
    """Undo changes of a run in one transaction. `restore` builds the new memory from the present one and its revision
    from before the run. Changes by humans since then stay.
    """

    async def work(transaction: Transaction) -> Undone:
        versions = await _lock_uids(transaction, namespace, {uid for change in page for uid in change.items})
        done = [change for change in page if change.state == "applied" and change.edge_id is None]
        rewritten = [change for change in done if change.expires_at is None and change.fact_id is None]
        facts = {change.fact_id: change for change in done if change.fact_id is not None}
        removed_facts = await remove_facts(transaction, namespace, facts)
        intact = await _intact(transaction, namespace, rewritten, versions)
        by = Provenance(f"{_UNDO}{sweep_id}", actor)
        await _restore(transaction, namespace, sweep_id, intact, restore, by)
        intact |= await _unexpire(transaction, namespace, done)
        kept_edges = await _remove_edges(transaction, namespace, sweep_id, page)
        proposals = [change.seq for change in page if change.state == "proposed" and change.edge_id is None]
        kept = [change for change in done if change.fact_id is None and change.uid not in intact]
        kept += [change for change in page if change.edge_id in kept_edges]
        kept += [change for uid, change in facts.items() if uid not in removed_facts]
        stays = {change.seq for change in kept}
        states = [{"seq": change.seq, "state": "kept" if change.seq in stays else "undone"} for change in page]
        await transaction.run("settle_sweep_changes", {"namespace": namespace, "sweep_id": sweep_id, "rows": states})
        await _save(transaction, namespace, sweep_id, lease, "undoing", progress)
        removed = [change.seq for change in page if change.edge_id is not None and change.seq not in stays]
        return Undone(sorted(intact), removed, proposals, sorted(removed_facts), kept)

    return await executor.transaction("undo_sweep", work)


async def remove_facts(transaction: Transaction, namespace: str, uids: Collection[str]) -> set[str]:
    """Delete facts that a sweep stored, except those changed since; return the uids of those that are gone, now or
    before.
    """
    if not uids:
        return set()
    wanted = {"namespace": namespace, "uids": sorted(uids)}
    there = {row["uid"] for row in await transaction.run("lock_items", wanted)}
    unedited = {row["uid"] for row in await transaction.run("unedited_facts", wanted)}
    await take_away(transaction, namespace, sorted(unedited))
    return set(uids) - (there - unedited)


async def _save(
    transaction: Transaction, namespace: str, sweep_id: str, lease: Lease, status: Status, progress: str
) -> None:
    params = {"namespace": namespace, "sweep_id": sweep_id, "lease": lease.name, "owner": lease.owner}
    if not await transaction.run("save_sweep", {**params, "status": status, "progress": progress}):
        raise LeaseLost


async def _lock(transaction: Transaction, namespace: str, chunk: Chunk) -> dict[str, int]:
    uids = {rewrite.uid for rewrite in chunk.rewrites} | {uid for needs in chunk.needs for uid in needs}
    return await _lock_uids(transaction, namespace, uids)


async def _lock_uids(transaction: Transaction, namespace: str, uids: set[str]) -> dict[str, int]:
    """Lock items, in the same order for all writers; return the versions of those that exist."""
    rows = await transaction.run("lock_items", {"namespace": namespace, "uids": sorted(uids)})
    return {row["uid"]: row["version"] for row in rows}


async def _found_before(transaction: Transaction, namespace: str, rows: Sequence[RecordedChange]) -> set[str]:
    """Return the facts that another run has meanwhile found in the same locked messages."""
    queries = [{"uid": row.uid, "fact_id": row.fact_id} for row in rows if row.fact_id is not None]
    found = await transaction.run("told_before", {"namespace": namespace, "rows": queries}) if queries else []
    return {row["fact_id"] for row in found}


def _refusals(planned: Sequence[Mapping[str, int]], versions: Mapping[str, int]) -> dict[int, Refusal]:
    refused: dict[int, Refusal] = {}
    for index, needs in enumerate(planned):
        if needs.keys() - versions.keys():
            refused[index] = "deleted"
        elif any(versions[uid] != version for uid, version in needs.items()):
            refused[index] = "changed"
    return refused


async def _draw(
    transaction: Transaction, namespace: str, sweep_id: str, edges: Sequence[Edge], versions: Mapping[str, int]
) -> set[str]:
    """Draw the edges that neither contradict nor duplicate others; return their ids."""
    current = [edge for edge in edges if edge.needs.items() <= versions.items()]
    if not current:
        return set()
    pairs = [(edge.memory_id, edge.target_id) for edge in current]
    rows = await transaction.run("sweep_known_pairs", {"namespace": namespace, "rows": pair_rows(pairs)})
    between = known(rows)
    new = {edge.edge_id: edge for edge in current if may_draw(edge.type, between.get((edge.memory_id, edge.target_id)))}
    drawn = [_drawn(edge, sweep_id) for edge in new.values()]
    await transaction.run("draw_sweep_edges", {"namespace": namespace, "rows": drawn})
    transaction.changed(namespace, map(_edge_change, new.values()))
    return set(new)


def _edge_change(edge: Edge) -> Change:
    action: EdgeAction = "proposed" if edge.state == "proposed" else "added"
    return Change(action, EDGE, edge.edge_id, edge.type, edge.memory_id, edge.target_id)


def _drawn(edge: Edge, sweep_id: str) -> dict[str, Any]:
    """Return the row that draws an edge: as a relationship of its type, or as PROPOSED until a human decides."""
    properties: dict[str, Any] = {
        "edge_id": edge.edge_id,
        "confidence": edge.confidence,
        "method": edge.method,
        "source_quote": edge.source_quote,
        "target_quote": edge.target_quote,
        "reason": edge.reason,
        "model": edge.model,
        "run_id": sweep_id,
    }
    proposed = edge.state == "proposed"
    if proposed:
        properties |= {"type": edge.type.value, "state": "proposed"}
    label = "PROPOSED" if proposed else edge.type.value
    return {"source": edge.memory_id, "target": edge.target_id, "label": label, "properties": properties}


def _row(change: RecordedChange) -> dict[str, Any]:
    properties = asdict(change)
    return {"uid": properties.pop("uid"), "properties": properties}


def may_draw(edge_type: str, known: KnownPair | None) -> bool:
    """Return whether a sweep may draw an edge of this type between two memories: never where a human has decided, one
    typed edge per pair, and RELATES_TO only where there is no edge.
    """
    if known is None:
        return True
    return not known.human and edge_type != "RELATES_TO" and known.types <= {"RELATES_TO"}


async def _expire(transaction: Transaction, namespace: str, changes: Sequence[RecordedChange]) -> None:
    await _give_ends(transaction, "expire_items", namespace, changes)


async def _unexpire(transaction: Transaction, namespace: str, changes: Sequence[RecordedChange]) -> set[str]:
    """Undo the expiry of items; return the uids of those that nobody has given another end since."""
    return await _give_ends(transaction, "unexpire_items", namespace, changes)


async def _give_ends(
    transaction: Transaction, statement: str, namespace: str, changes: Sequence[RecordedChange]
) -> set[str]:
    rows = [{"uid": each.uid, "expires_at": each.expires_at} for each in changes if each.expires_at is not None]
    done = await transaction.run(statement, {"namespace": namespace, "rows": rows}) if rows else []
    transaction.changed(namespace, (Change("changed", row["kind"], row["uid"]) for row in done))
    return {row["uid"] for row in done}


async def _rewrite(
    transaction: Transaction,
    namespace: str,
    rewrites: Sequence[Rewrite],
    versions: Mapping[str, int],
    by: Provenance,
) -> None:
    current = {rewrite.uid: rewrite for rewrite in rewrites if versions.get(rewrite.uid) == rewrite.version}
    if not current:
        return
    items = [current[stored.uid].build(stored) for stored in await _read(transaction, namespace, current)]
    await put(transaction, namespace, items, [new.item.uid for new in items], by)


async def _intact(
    transaction: Transaction, namespace: str, rewritten: Sequence[RecordedChange], versions: Mapping[str, int]
) -> set[str]:
    """Return the memories whose type and text are as the run left them: unchanged since, or changed only by later runs
    that were undone, or only in what no sweep writes.
    """
    left = {change.uid: change.version for change in rewritten if change.uid in versions}
    rows = [{"uid": uid, "version": version} for uid, version in left.items() if versions[uid] != version]
    since = await transaction.run("changes_since", {"namespace": namespace, "rows": rows}) if rows else []
    stored = {memory.uid: memory for memory in await _read(transaction, namespace, {row["uid"] for row in since})}
    back = {
        row["uid"]
        for row in since
        if _only_undone(row["reasons"]) or _swept(memory_of(row["left"])) == _swept(stored[row["uid"]])
    }
    return {uid for uid, version in left.items() if versions[uid] == version or uid in back}


def _swept(memory: Memory) -> tuple[object, ...]:
    """Return the properties that a sweep writes on a memory, and those derived from them."""
    return memory.text, memory.name, memory.type, memory.type_confidence, memory.tags


def _only_undone(reasons: Sequence[str]) -> bool:
    back = {reason.removeprefix(_UNDO) for reason in reasons if reason.startswith(_UNDO)}
    return all(reason.removeprefix(_UNDO) in back for reason in reasons)


async def _restore(
    transaction: Transaction,
    namespace: str,
    sweep_id: str,
    uids: set[str],
    restore: Callable[[Memory, Memory], NewItem],
    by: Provenance,
) -> None:
    if not uids:
        return
    params = {"namespace": namespace, "sweep_id": sweep_id, "uids": sorted(uids)}
    rows = await transaction.run("revisions_of_sweep", params)
    revisions = {row["uid"]: memory_of(row["revision"]) for row in rows}
    stored = await _read(transaction, namespace, uids)
    items = [restore(memory, revisions[memory.uid]) for memory in stored]
    await put(transaction, namespace, items, [new.item.uid for new in items], by)


async def _remove_edges(
    transaction: Transaction, namespace: str, sweep_id: str, page: Sequence[RecordedChange]
) -> set[str]:
    """Remove the edges of a page of changes; return the ids of those that are now a human's."""
    rows = [
        {"uid": change.source, "target": change.target, "edge_id": change.edge_id}
        for change in page
        if change.edge_id is not None
    ]
    params = {"namespace": namespace, "sweep_id": sweep_id, "rows": rows}
    removed = await transaction.run("remove_sweep_edges", params) if rows else []
    gone = [row for row in removed if row["gone"]]
    transaction.changed(
        namespace, (Change("deleted", EDGE, row["edge_id"], row["type"], row["source"], row["target"]) for row in gone)
    )
    return {row["edge_id"] for row in removed if row["kept"]}


async def _read(transaction: Transaction, namespace: str, uids: Mapping[str, Any] | set[str]) -> list[Memory]:
    rows = await transaction.run("read_memories", {"namespace": namespace, "uids": sorted(uids)})
    return [memory_of(row["item"]) for row in rows]
