"""Undoing a sweep: every text, type and tag is restored, every edge deleted, unless a human has changed it since."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import TypeAlias

from graph import sweep as graph
from graph import sweep_writes as writes
from graph.executor import Executor
from graph.leases import Lease, leased
from graph.sweep import Action, RecordedChange, Run, Undone
from librarian.base.audit import actor
from librarian.sweep.contracts import KeptChange, SweepProgress, SweepUndoOutput
from librarian.sweep.plan import PAGE
from librarian.sweep.reports import decoded, no_sweep
from librarian.sweep.run import holder, lease_name
from librarian.sweep.texts import restored

MAX_KEPT_SHOWN = 1000
_OPEN = ("applied", "proposed")
_CHANGED = "the memory was changed since"
_FACT_CHANGED = "the fact was changed since"
_DECIDED = "a human has decided about this edge since"
_REASONS: Mapping[Action, str] = {"causal_edge": _DECIDED, "fact": _FACT_CHANGED}

UndoEvents: TypeAlias = AsyncGenerator[SweepProgress | SweepUndoOutput, None]


async def undo(executor: Executor, namespace: str, sweep_id: str) -> UndoEvents:
    """Undo page by page; the last event is the outcome.

    An interrupted undo continues where it ended; a second one finds nothing to do. Raises NotFound, LeaseHeld.
    """
    if await graph.get(executor, namespace, sweep_id) is None:
        raise no_sweep(namespace)
    async with leased(executor, lease_name(namespace), holder()) as lease:
        run = await graph.get(executor, namespace, sweep_id)
        if run is None:
            raise no_sweep(namespace)
        async with aclosing(_undo(_Undo(executor, namespace, lease, run))) as events:
            async for event in events:
                yield event


@dataclass(frozen=True, slots=True)
class _Undo:
    executor: Executor
    namespace: str
    lease: Lease
    run: Run

    async def page(self, after: int) -> list[RecordedChange]:
        """Return the next changes; those of one memory's text are never split."""
        found = await graph.changes(
            self.executor, self.namespace, self.run.sweep_id, after=after, limit=PAGE + 1, states=_OPEN
        )
        page = found[:PAGE]
        return page[:-1] if len(found) > PAGE and found[-1].uid == page[-1].uid else page

    async def take_back(self, page: Sequence[RecordedChange]) -> Undone:
        """Undo a page in one transaction."""
        return await writes.undo_page(
            self.executor,
            self.namespace,
            self.run.sweep_id,
            self.lease,
            page,
            actor=actor.get(),
            restore=restored,
            progress=self.run.progress,
        )

    async def finish(self) -> None:
        """Record that the sweep is undone."""
        await writes.save(
            self.executor, self.namespace, self.run.sweep_id, self.lease, status="undone", progress=self.run.progress
        )


async def _undo(work: _Undo) -> UndoEvents:
    out = SweepUndoOutput(sweep_id=work.run.sweep_id, status="undone")
    total, after = decoded(work.run.progress).changes, -1
    while work.run.status != "undone" and (page := await work.page(after)):
        undone = await work.take_back(page)
        after = page[-1].seq
        _count(out, undone)
        yield SweepProgress(stage="undo", done=after + 1, total=total)
    if work.run.status != "undone":
        await work.finish()
    yield out


def _count(out: SweepUndoOutput, undone: Undone) -> None:
    out.memories_restored += len(undone.restored)
    out.edges_removed += len(undone.removed)
    out.facts_removed += len(undone.facts)
    out.proposals_withdrawn += len(undone.withdrawn)
    out.changes_kept += len(undone.kept)
    out.kept.extend(_kept(change) for change in undone.kept[: MAX_KEPT_SHOWN - len(out.kept)])


def _kept(change: RecordedChange) -> KeptChange:
    reason = _REASONS.get(change.action, _CHANGED)
    return KeptChange(memory_id=change.uid, action=change.action, reason=reason)
