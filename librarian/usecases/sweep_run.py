"""Running a sweep: over a scope, by a plan, or on from where an interrupted one ended.

First edges and merges, read off the texts as they are; then types and texts. A dry run plans the same and has no lease
to write with.
"""

import asyncio
import hashlib
import os
import socket
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeAlias

import msgspec

from graph import sweep as graph
from graph import sweep_writes as writes
from graph.executor import Executor
from graph.leases import Lease, leased
from graph.sweep import Scope, SweptMemory
from graph.types import Kind, SpaceRecord
from librarian.audit import actor
from librarian.contracts.filters import Filters
from librarian.contracts.sweeps import (
    SweepChange,
    SweepConfig,
    SweepProgress,
    SweepRefusal,
    SweepReport,
    SweepRequest,
)
from librarian.errors import Conflict, InvalidInput, NotFound
from librarian.usecases import sweep_state
from librarian.usecases.search import item_filter
from librarian.usecases.sweep_apply import CHUNK, chunk_of, chunks
from librarian.usecases.sweep_edges import Relations
from librarian.usecases.sweep_events import tell_changes, tell_run
from librarian.usecases.sweep_state import State
from librarian.usecases.sweep_texts import PlannedText, embeddings_of, plan_text

PAGE = CHUNK
"""Memories that are planned together."""


@dataclass(frozen=True, slots=True)
class SweepPart:
    """A part of a sweep that is done and, unless it is a dry run, committed."""

    progress: SweepProgress
    changes: Sequence[SweepChange] = ()
    refused: Sequence[SweepRefusal] = ()


SweepEvents: TypeAlias = AsyncGenerator[SweepPart | SweepReport, None]


@dataclass(frozen=True, slots=True)
class Ground:
    """Where a sweep works, and what helps it to read."""

    executor: Executor
    namespace: str
    space: SpaceRecord | None


async def sweep(ground: Ground, request: SweepRequest) -> SweepEvents:
    """Sweep, part by part; the last event is the report, without its changes.

    Raises InvalidInput for a domain that no memory names or a plan of another namespace, LeaseHeld while another sweep
    works here, NotFound and Conflict for a run that cannot be resumed.
    """
    _check(ground.namespace, request)
    started = time.monotonic()
    # Closed at once when the caller leaves, so that the lease is free again.
    async with aclosing(_dry(ground, request) if request.dry_run else _real(ground, request)) as events:
        async for event in events:
            yield event
            if isinstance(event, SweepReport):
                tell_run(event, time.monotonic() - started)


async def _dry(ground: Ground, request: SweepRequest) -> SweepEvents:
    config = config_of(request)
    scope = await scope_of(ground, config)
    day = sweep_state.day_of()
    number = await graph.next_number(ground.executor, ground.namespace, day)
    state, started_at = State(stage="edges"), datetime.now(UTC)
    async for part in _planned(ground, scope, config, state):
        state.count(part.changes)
        if part.planned:
            state.looked_at(part.page, part.planned)
        yield SweepPart(part.progress, part.changes)
    yield SweepReport(
        sweep_id=f"{day}{number:03}",
        dry_run=True,
        config=config,
        summary=state.summary,
        changes=[],
        namespace=ground.namespace,
        status="planned",
        findings=state.findings,
        actor=actor.get(),
        started_at=started_at,
        finished_at=datetime.now(UTC),
    )


async def _real(ground: Ground, request: SweepRequest) -> SweepEvents:
    async with leased(ground.executor, lease_name(ground.namespace), holder()) as lease:
        run = await _taken_up(ground, request) if request.resume else await _begun(ground, request)
        writer = _Writer(ground, run.sweep_id, lease, sweep_state.decoded(run.progress))
        if request.plan is not None:
            parts = _by_plan(writer, request.plan)
        else:
            config = sweep_state.config_of(run)
            parts = _by_scope(ground, writer, await scope_of(ground, config, ask=False), config)
        async for part in parts:
            yield part
        await writer.finish()
        finished = await graph.get(ground.executor, ground.namespace, run.sweep_id)
        if finished is None:
            raise NotFound("the sweep's record was deleted while it ran")
        yield sweep_state.report_of(ground.namespace, finished)


async def _by_scope(
    ground: Ground, writer: "_Writer", scope: Scope, config: SweepConfig
) -> AsyncGenerator[SweepPart, None]:
    async for part in _planned(ground, scope, config, writer.state):
        after = writer.state.copy()
        after.stage, after.after, after.done = part.stage, part.page[-1].position, part.progress.done
        if part.planned:
            after.looked_at(part.page, part.planned)
        done, refused = await writer.apply(part.changes, after)
        yield SweepPart(part.progress, done, refused)


async def _by_plan(writer: "_Writer", plan: SweepReport) -> AsyncGenerator[SweepPart, None]:
    planned = list(chunks(plan.changes))
    for number, chunk in enumerate(planned, start=1):
        if number <= writer.state.done:
            continue
        after = writer.state.copy()
        after.done = number
        done, refused = await writer.apply(chunk, after)
        yield SweepPart(SweepProgress(stage="plan", done=number, total=len(planned)), done, refused)


@dataclass(frozen=True, slots=True)
class _Planned:
    """The plan of one page; `planned` has an entry for each memory in the stage "texts"."""

    stage: sweep_state.Stage
    page: Sequence[SweptMemory]
    changes: Sequence[SweepChange]
    planned: Sequence[PlannedText]
    progress: SweepProgress


async def _planned(ground: Ground, scope: Scope, config: SweepConfig, state: State) -> AsyncGenerator[_Planned, None]:
    """What is to be done, page by page, from where `state` says on."""
    most = await graph.count(ground.executor, scope)
    total = most if config.limit is None else min(most, config.limit)
    relations = Relations(ground.executor, ground.namespace, ground.space)
    stage, after, done = state.stage, state.after, state.done
    if stage == "edges":
        async for page, done in _pages(ground, scope, after, done, config.limit):  # noqa: B020 - it goes on counting
            changes = await relations.plan(page)
            yield _Planned("edges", page, changes, (), SweepProgress(stage="edges", done=done, total=total))
        after, done = graph.FIRST, 0
    async for page, done in _pages(ground, scope, after, done, config.limit):  # noqa: B020 - as above
        planned = await _texts(ground, page)
        changes = [change for one in planned for change in one.changes]
        yield _Planned("texts", page, changes, planned, SweepProgress(stage="texts", done=done, total=total))


async def _pages(
    ground: Ground, scope: Scope, after: graph.Position, done: int, limit: int | None
) -> AsyncGenerator[tuple[list[SweptMemory], int], None]:
    """Pages from behind `after` on, each with how many memories that makes; no more than `limit` in all."""
    while limit is None or done < limit:
        size = PAGE if limit is None else min(PAGE, limit - done)
        page = await graph.page(ground.executor, scope, after=after, limit=size)
        if not page:
            return
        after, done = page[-1].position, done + len(page)
        yield page, done


async def _texts(ground: Ground, page: Sequence[SweptMemory]) -> list[PlannedText]:
    uids = [memory.uid for memory in page]
    embeddings = await embeddings_of(ground.executor, ground.namespace, uids, ground.space)
    return await asyncio.to_thread(lambda: [plan_text(memory, embeddings.get(memory.uid)) for memory in page])


@dataclass(slots=True)
class _Writer:
    """Applies chunks of one run; `state` is what is committed."""

    ground: Ground
    sweep_id: str
    lease: Lease
    state: State

    async def apply(self, changes: Sequence[SweepChange], after: State) -> tuple[list[SweepChange], list[SweepRefusal]]:
        """Commit a chunk together with the state `after` it; returns what was done and what was refused."""
        applied = await writes.apply_chunk(
            self.ground.executor,
            self.ground.namespace,
            self.sweep_id,
            self.lease,
            chunk_of(self.ground.namespace, self.sweep_id, changes),
            actor=actor.get(),
            first_seq=self.state.changes,
            progress=lambda outcome: sweep_state.encoded(_settled(after, changes, outcome)),
        )
        self.state = _settled(after, changes, applied)
        done = [changes[place] for place in applied.done]
        for number, change in enumerate(done):
            change.seq = self.state.changes - len(done) + number
            change.state = "proposed" if change.action in ("flag", "merge") else "applied"
        tell_changes(done)
        return done, sweep_state.refusals(changes, applied)

    async def finish(self) -> None:
        """Say that the run is complete."""
        self.state.stage = "done"
        await writes.save(
            self.ground.executor,
            self.ground.namespace,
            self.sweep_id,
            self.lease,
            status="applied",
            progress=sweep_state.encoded(self.state),
        )


def _settled(after: State, changes: Sequence[SweepChange], applied: graph.Applied) -> State:
    settled = after.copy()
    settled.settle(changes, applied)
    return settled


async def _begun(ground: Ground, request: SweepRequest) -> graph.Run:
    plan = request.plan
    config = config_of(request) if plan is None else plan.config
    if plan is None:
        await scope_of(ground, config)
    state = State(stage="edges") if plan is None else _state_by(plan)
    sweep_id = await writes.begin(
        ground.executor,
        ground.namespace,
        sweep_state.day_of(),
        config=msgspec.json.encode(config).decode(),
        plan_hash=plan_hash(plan),
        actor=actor.get(),
        progress=sweep_state.encoded(state),
    )
    run = await graph.get(ground.executor, ground.namespace, sweep_id)
    if run is None:
        raise NotFound("the sweep's record was deleted while it began")
    return run


def _state_by(plan: SweepReport) -> State:
    """A run by a plan looks at nothing itself: what the plan found is what it tells."""
    findings = msgspec.structs.replace(plan.findings, edges_proposed=0, related_created=0, merges_proposed=0)
    state = State(stage="plan", findings=findings, plan=plan.sweep_id)
    state.summary.memories_scanned = plan.summary.memories_scanned
    return state


async def _taken_up(ground: Ground, request: SweepRequest) -> graph.Run:
    run = await graph.get(ground.executor, ground.namespace, str(request.resume))
    if run is None:
        raise no_sweep(ground.namespace)
    if run.status != "applying":
        raise Conflict(f"the sweep is {run.status} and has nothing to resume", field="$.resume")
    if run.plan_hash != plan_hash(request.plan):
        raise Conflict(
            "the sweep had another plan, or none", field="$.plan", remedy="Resume it with the plan it was begun with."
        )
    return run


async def scope_of(ground: Ground, config: SweepConfig, *, ask: bool = True) -> Scope:
    """The memories that the configuration means. Raises InvalidInput for a domain that no memory names (unless not to
    `ask`).
    """
    if config.domains is not None and ask:
        known = await graph.domains(ground.executor, ground.namespace)
        if strange := sorted(set(config.domains) - set(known)):
            named = ", ".join(known[:20]) or "none"
            raise InvalidInput(
                f"no memory is of the domain {strange[0]!r}", field="$.domains", remedy=f"Domains are: {named}."
            )
    where = item_filter(ground.namespace, config.filters, [Kind.MEMORY])
    return Scope(where, config.domains, config.min_importance)


def config_of(request: SweepRequest) -> SweepConfig:
    """How the sweep was asked for."""
    return SweepConfig(
        domains=request.domains,
        limit=request.limit,
        min_importance=request.min_importance,
        filters=request.filters,
        llm=request.llm,
    )


def plan_hash(plan: SweepReport | None) -> str | None:
    """By what a plan is known again; None without one."""
    return None if plan is None else hashlib.sha256(msgspec.json.encode(plan, order="deterministic")).hexdigest()


def lease_name(namespace: str) -> str:
    """The lease that whoever sweeps `namespace` holds."""
    return f"sweep of {namespace}"


def holder() -> str:
    """Who we are, for those who find the lease held."""
    return f"{actor.get()} on {socket.gethostname()} (process {os.getpid()})"


def no_sweep(namespace: str) -> NotFound:
    """The error for a run that `namespace` does not have."""
    return NotFound(f"namespace {namespace!r} has no such sweep", field="sweep_id")


def _check(namespace: str, request: SweepRequest) -> None:
    """Refuse what cannot be meant."""
    filters = request.filters or Filters()
    if filters.kinds is not None and filters.kinds != ["memory"]:
        raise InvalidInput("a sweep looks at memories only", field="$.filters.kinds")
    scoped = config_of(request) != SweepConfig(llm=request.llm)
    if scoped and (request.resume or request.plan):
        raise InvalidInput("a plan or an earlier run brings its own scope", field="$.resume", remedy="Leave it out.")
    if request.dry_run and (request.resume or request.plan):
        raise InvalidInput("a dry run makes a plan, it takes none", field="$.dry_run")
    if request.plan is not None:
        _check_plan(namespace, request.plan)


def _check_plan(namespace: str, plan: SweepReport) -> None:
    if not plan.dry_run:
        raise InvalidInput("this is the report of a sweep that was applied, no plan", field="$.plan")
    if plan.namespace != namespace:
        raise InvalidInput("this plan was made in another namespace", field="$.plan.namespace")
    if plan.changes_left_out:
        raise InvalidInput(
            "this plan is not whole", field="$.plan.changes_left_out", remedy="Use the plan that the dry run saved."
        )
