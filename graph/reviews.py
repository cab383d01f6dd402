"""Human decisions on the flags, merges and facts that sweeps propose. A decision stands until it is revised."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from graph.causal import Brief
from graph.edges import EDGE, ReviewedEdge, StoredEdge, decided, report_edges, stored_edges
from graph.executor import Executor, Row, Transaction
from graph.facts import Succession
from graph.ingest import put, put_new
from graph.item import Fact, Item, Memory, NewItem, Unchanged, memory_of
from graph.items import read_stored
from graph.search import hydrate
from graph.support import settle
from graph.sweep import RecordedChange, recorded
from graph.sweep_writes import remove_facts
from graph.types import Change, Provenance, native

OPEN = "proposed"
UNREVIEWED = "applied"
"""State of facts that a sweep stored and no human has reviewed."""
_ACCEPTED = "accepted"


@dataclass(frozen=True, slots=True)
class Decision:
    """A human decision on a proposal; `given_type` None means the proposed type. With `revise` it replaces an earlier,
    different decision, except on a merge that was carried out. `by` is the name that reviews show, `actor` the one that
    revisions of changed memories record.
    """

    accept: bool
    by: str
    actor: str
    reason: str | None = None
    given_type: str | None = None
    revise: bool = False

    def settles(self, proposal: RecordedChange) -> bool:
        """Return whether the proposal is open to this decision."""
        if proposal.state in (OPEN, UNREVIEWED):
            return True
        merged = proposal.target is not None and proposal.state == _ACCEPTED
        return self.revise and not merged and self.accept != (proposal.state == _ACCEPTED)


@dataclass(frozen=True, slots=True)
class Decided:
    """The stored proposal; `done` is false if a human had already decided."""

    proposal: RecordedChange
    done: bool


@dataclass(frozen=True, slots=True)
class ReasonCount:
    """Number of reviews of one sort (edge, flag, merge, fact) with this reason and state (open, unreviewed, accepted,
    rejected).
    """

    sort: str
    reason: str
    state: str
    count: int


@dataclass(frozen=True, slots=True)
class Stating:
    """A fact to store, with what it replaces, and the supersessions for a human to decide."""

    items: Sequence[NewItem]
    proposed: Sequence[Succession]


Retype = Callable[[Memory, RecordedChange], NewItem | Unchanged]
Merge = Callable[[Memory, Memory], NewItem | Unchanged]


async def proposals(
    executor: Executor,
    namespace: str,
    actions: Sequence[str],
    states: Sequence[str],
    *,
    because: str = "",
    after: tuple[str, int],
    limit: int,
) -> list[RecordedChange]:
    """Return up to `limit` flags, merges and facts in these states (proposed, applied, accepted, rejected) whose reason
    starts with `because`, by sweep_id and seq, starting after `after`; without merges whose other memory is gone.
    """
    params = {
        "namespace": namespace,
        "actions": list(actions),
        "states": list(states),
        "because": because,
        "after_sweep": after[0],
        "after_seq": after[1],
        "limit": limit,
    }
    return [_proposal(row) for row in await executor.fetch_all("review_changes", params)]


async def reasons(executor: Executor, namespace: str) -> list[ReasonCount]:
    """Return the reasons of open and past reviews, with their number by state."""
    which = {"namespace": namespace}
    drawn = await executor.fetch_all("reasons_of_edges", which)
    swept = await executor.fetch_all("reasons_of_changes", which)
    return [
        *(ReasonCount("edge", row["reason"], row["state"], row["reviews"]) for row in drawn),
        *(ReasonCount(row["action"], row["reason"], _shown(row["state"]), row["reviews"]) for row in swept),
    ]


async def proposal(executor: Executor, namespace: str, sweep_id: str, seq: int) -> RecordedChange | None:
    """Return one proposal, or None."""
    row = await executor.fetch_one("review_change", {"namespace": namespace, "sweep_id": sweep_id, "seq": seq})
    return None if row is None else _proposal(row)


async def decide(
    executor: Executor,
    namespace: str,
    sweep_id: str,
    seq: int,
    decision: Decision,
    *,
    retype: Retype,
    untype: Retype,
    merge: Merge,
    facts: Stating | None = None,
) -> Decided | None:
    """Decide on a proposal; None if there is none, or one of its memories is gone.

    An accepted flag turns the memory into `retype` of it, one rejected afterwards into `untype` of its earlier form. An
    accepted merge turns the fuller memory into `merge` of both; the other is deleted and leaves it its text, history,
    edges and everything it supports. `facts` is stored for an accepted fact; a fact rejected afterwards is deleted.
    """
    which = {"namespace": namespace, "sweep_id": sweep_id, "seq": seq}

    async def work(transaction: Transaction) -> Decided | None:
        before = await _read(transaction, which)
        stored = await _locked(transaction, namespace, before) if before and decision.settles(before) else None
        before = await _read(transaction, which)  # somebody may have decided before they were locked
        if before is None or (stored is None and decision.settles(before)):
            return None
        if stored is None or not decision.settles(before):
            return Decided(before, done=False)
        after, by = await _settle(transaction, which, decision), Provenance(f"review of {sweep_id}", decision.actor)
        if after.fact_id is not None:
            await _decide_fact(transaction, namespace, after.fact_id, facts, decision, by)
        elif decision.accept and after.target is not None:
            await _merge(transaction, namespace, after, after.target, stored, merge, by)
        elif decision.accept:
            await _write(transaction, namespace, retype(stored[after.uid], after), by)
        elif before.state == _ACCEPTED:
            await _write(transaction, namespace, untype(stored[before.uid], before), by)
        return Decided(after, done=True)

    return await executor.transaction("decide_review", work)


async def decide_supersession(
    executor: Executor,
    namespace: str,
    edge_id: str,
    decision: Decision,
    rewrite: Callable[[Fact], NewItem],
) -> ReviewedEdge | None:
    """Decide whether a fact supersedes another; None if nothing is proposed. A rejection undoes an earlier acceptance.
    `rewrite` builds the new version of a changed fact.
    """
    which = {"namespace": namespace, "edge_id": edge_id}

    async def work(transaction: Transaction) -> ReviewedEdge | None:
        found = stored_edges(await transaction.run("get_edge", which))
        if found:
            ends = sorted([found[0].source, found[0].target])
            await transaction.run("lock_items", {"namespace": namespace, "uids": ends})
            found = stored_edges(await transaction.run("get_edge", which))
        if not found:
            return None
        accepted = found[0].state == _ACCEPTED
        if decided(found[0]) and (not decision.revise or decision.accept == accepted):
            return ReviewedEdge(found[0], done=False)
        stored = (await read_stored(transaction, namespace, found[0].source)).item
        refs = [ref for ref in stored.supersedes_refs if ref != found[0].target] if isinstance(stored, Fact) else []
        if isinstance(stored, Fact) and (decision.accept or accepted):
            fact = replace(stored, supersedes_refs=(*refs, found[0].target) if decision.accept else tuple(refs))
            await _write(transaction, namespace, rewrite(fact), Provenance("review", decision.actor))
        return ReviewedEdge(await _settle_supersession(transaction, which, decision), done=True)

    return await executor.transaction("decide_supersession", work)


async def texts(executor: Executor, namespace: str, uids: Sequence[str]) -> dict[str, Brief]:
    """Return items by uid with their whole texts, including memories merged into others, as they were then."""
    params = {"namespace": namespace, "uids": list(uids)}
    merged = [Brief(**native(row["item"])) for row in await executor.fetch_all("merged_memories", params)]
    standing = [_brief(item) for item in await hydrate(executor, namespace, uids)]
    return {brief.uid: brief for brief in [*merged, *standing]}


def _brief(item: Item) -> Brief:
    type_ = item.type if isinstance(item, Memory) else None
    return Brief(item.uid, item.kind.value, item.name, type_, item.occurred_at, item.text)


async def _decide_fact(
    transaction: Transaction,
    namespace: str,
    fact_id: str,
    facts: Stating | None,
    decision: Decision,
    by: Provenance,
) -> None:
    if decision.accept and facts is not None:
        await put_new(transaction, namespace, facts.items, by, facts.proposed)
    elif not decision.accept:
        await remove_facts(transaction, namespace, [fact_id])


async def _read(transaction: Transaction, which: Mapping[str, Any]) -> RecordedChange | None:
    rows = await transaction.run("review_change", which)
    return _proposal(rows[0]) if rows else None


async def _locked(transaction: Transaction, namespace: str, proposal: RecordedChange) -> dict[str, Memory] | None:
    """Lock and return the memories of a proposal; None if one is gone. Messages are not read."""
    uids = sorted({proposal.uid, proposal.target or proposal.uid})
    locked = await transaction.run("lock_items", {"namespace": namespace, "uids": uids})
    if proposal.fact_id is not None:
        return {} if locked else None
    rows = await transaction.run("read_memories", {"namespace": namespace, "uids": uids})
    stored = {memory.uid: memory for memory in (memory_of(row["item"]) for row in rows)}
    return stored if len(stored) == len(uids) else None


async def _settle(transaction: Transaction, which: Mapping[str, Any], decision: Decision) -> RecordedChange:
    params = {
        **which,
        "state": "accepted" if decision.accept else "rejected",
        "given_type": decision.given_type,
        "reviewed_by": decision.by,
        "review_reason": decision.reason,
    }
    (row,) = await transaction.run("settle_review", params)
    return _proposal(row)


async def _settle_supersession(transaction: Transaction, which: Mapping[str, Any], decision: Decision) -> StoredEdge:
    state = _ACCEPTED if decision.accept else "rejected"
    params = {**which, "state": state, "reviewed_by": decision.by, "review_reason": decision.reason}
    (edge,) = stored_edges(await transaction.run("settle_supersession", params))
    report_edges(transaction, which["namespace"], "accepted" if decision.accept else "rejected", [edge])
    return edge


async def _merge(
    transaction: Transaction,
    namespace: str,
    proposal: RecordedChange,
    into: str,
    stored: Mapping[str, Memory],
    merge: Merge,
    by: Provenance,
) -> None:
    gone, kept = stored[proposal.uid], stored[into]
    gone = await _without_citations(transaction, namespace, gone, kept.uid)
    await _write(transaction, namespace, merge(kept, gone), by)
    params = {
        "namespace": namespace,
        "uid": gone.uid,
        "into": kept.uid,
        "sweep_id": proposal.sweep_id,
        "seq": proposal.seq,
        "reason": f"merged into {kept.uid}",
        "actor": by.actor,
    }
    (moved,) = await transaction.run("absorb_memory", params)
    await transaction.run("delete_items", {"namespace": namespace, "doomed": [gone.uid]})
    _report_merge(transaction, namespace, gone, kept, moved)
    await settle(transaction, namespace)


def _report_merge(transaction: Transaction, namespace: str, gone: Memory, kept: Memory, moved: Row) -> None:
    """Report to the change feed what a merge changed besides the text of the remaining memory."""
    changed = [Change("changed", kind, uid) for uid, kind in (*moved["citers"], (kept.uid, kept.kind))]
    edges = [
        Change("changed", EDGE, edge["edge_id"], edge["type"], edge["source"], edge["target"])
        for edge in moved["edges"]
    ]
    transaction.changed(namespace, [*changed, Change("deleted", gone.kind, gone.uid), *edges])


async def _without_citations(transaction: Transaction, namespace: str, gone: Memory, into: str) -> Memory:
    """Move a memory's citations to `into`; return the memory without the references that would duplicate those of
    `into`.

    If cited lines have moved, only the citation knows where; the reference does not.
    """
    rows = await transaction.run("absorb_citations", {"namespace": namespace, "uid": gone.uid, "into": into})
    doubled = {row["ref"] for row in rows}
    return replace(gone, evidence_refs=tuple(ref for ref in gone.evidence_refs if ref not in doubled))


async def _write(transaction: Transaction, namespace: str, wanted: NewItem | Unchanged, by: Provenance) -> None:
    if isinstance(wanted, NewItem):
        await put(transaction, namespace, [wanted], [wanted.item.uid], by)


def _shown(state: str) -> str:
    return {OPEN: "open", UNREVIEWED: "unreviewed"}.get(state, state)


def _proposal(row: Row) -> RecordedChange:
    # A merged memory is gone: its entry now belongs to the fuller one.
    return recorded({**row, "uid": row["properties"].get("merged", row["uid"])})
