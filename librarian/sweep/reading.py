"""Reads messages for facts as they arrive: finds the same facts as a sweep with `facts`, soon after they are stored.

Ingests mark messages and whichever process has a worker reads them: never delaying a write, and again if a process
ended in between, without duplicates. The findings of one day in a namespace form one run, for reviews and undo.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import msgspec

from graph import sweep as graph
from graph import sweep_writes as writes
from graph.errors import LeaseHeld, LeaseLost
from graph.executor import Executor
from graph.leases import Lease, leased
from graph.sweep import ReadMessage, Run, StatedFact
from librarian.base.audit import actor, audit
from librarian.base.settings.values import ProposeFacts
from librarian.items.succession import Declared, proposals
from librarian.sweep import reports
from librarian.sweep.apply import CHUNK, chunk_of
from librarian.sweep.changes import to_wire
from librarian.sweep.contracts import SweepConfig
from librarian.sweep.facts import facts_to_store, plan_facts
from librarian.sweep.lessons import learned
from librarian.sweep.reports import State
from librarian.sweep.run import holder, log_changes

_NAMESPACES_AT_ONCE = 100
_CONFIG = SweepConfig(facts=True, ingested=True)


@dataclass(frozen=True, slots=True)
class Reader:
    """Handling of facts in messages: `accept` stores those that the rules are sure of, `propose` asks a human first."""

    executor: Executor
    declared: Declared
    mode: ProposeFacts

    async def read_pending(self) -> int:
        """Read every waiting message and return their number. Messages being read by another process are skipped."""
        read = 0
        for namespace in await graph.namespaces_to_read(self.executor, limit=_NAMESPACES_AT_ONCE):
            try:
                async with leased(self.executor, f"reading messages of {namespace}", holder()) as lease:
                    while page := await graph.messages_to_read(self.executor, namespace, limit=CHUNK):
                        await self._read(namespace, page, lease)
                        read += len(page)
            except (LeaseHeld, LeaseLost):
                continue
        return read

    async def _read(self, namespace: str, page: Sequence[ReadMessage], lease: Lease) -> None:
        """Propose or store the facts of a page of messages, then unmark the messages."""
        lessons = await learned(self.executor, namespace)
        facts = await plan_facts(self.executor, namespace, page, lessons)
        if self.mode == "propose":
            facts = [replace(fact, state="proposed") for fact in facts]
        if facts:
            await self._apply(namespace, facts, len(page), lease)
        await writes.have_read(self.executor, namespace, page)

    async def _apply(self, namespace: str, facts: Sequence[StatedFact], messages: int, lease: Lease) -> None:
        run = await self._run_of_today(namespace)
        state = reports.decoded(run.progress)
        first = state.changes
        state.findings.messages_read += messages

        def progress(applied: graph.Applied) -> str:
            settled = state.copy()
            settled.settle(facts, applied)
            return reports.encoded(settled)

        found = await facts_to_store(self.executor, namespace, facts, self.declared)
        applied = await writes.apply_chunk(
            self.executor,
            namespace,
            run.sweep_id,
            lease,
            chunk_of(facts, {new.item.uid: new for new in found.items}, proposals(namespace, found)),
            actor=actor.get(),
            first_seq=first,
            progress=progress,
            status="applied",
        )
        done = [facts[index] for index in applied.done]
        log_changes([to_wire(fact, "proposed" if fact.state == "proposed" else "applied") for fact in done])
        audit("sweep", namespace, sweep_id=run.sweep_id, facts=len(done))

    async def _run_of_today(self, namespace: str) -> Run:
        """Return the run of today; a new one if there is none or it was undone."""
        day = reports.day_of()
        for run in await graph.list_runs(self.executor, namespace, before=reports.NEWEST, limit=CHUNK):
            goes_on = run.sweep_id.startswith(day) and run.status in ("applying", "applied")
            if goes_on and reports.config_of(run).ingested:
                return run
        sweep_id = await writes.begin(
            self.executor,
            namespace,
            day,
            config=msgspec.json.encode(_CONFIG).decode(),
            plan_hash=None,
            actor=actor.get(),
            progress=reports.encoded(State(stage="done")),
        )
        run_begun = await graph.get(self.executor, namespace, sweep_id)
        if run_begun is None:
            raise LeaseLost
        return run_begun
