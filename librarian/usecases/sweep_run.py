"""Running a sweep: over a scope, by a plan, or on from where an interrupted one ended.

First edges and merges, read off the texts as they are; then types and texts. A dry run plans the same and has no lease
to write with.
"""

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
from graph.leases import Lease, leased
from librarian.audit import actor
from librarian.contracts.filters import Filters
from librarian.contracts.sweeps import (
    ChangeState,
    SweepChange,
    SweepConfig,
    SweepLlm,
    SweepProgress,
    SweepRefusal,
    SweepReport,
    SweepRequest,
)
from librarian.errors import Conflict, InvalidInput, NotFound
from librarian.usecases import sweep_state
from librarian.usecases.sweep_apply import chunk_of, chunks
from librarian.usecases.sweep_events import tell_changes, tell_run
from librarian.usecases.sweep_examination import examined, surveyed
from librarian.usecases.sweep_llm import Adviser
from librarian.usecases.sweep_plan import Ground, config_of, planned_pages, scope_of
from librarian.usecases.sweep_state import State


@dataclass(frozen=True, slots=True)
class SweepPart:
    """A part of a sweep that is done and, unless it is a dry run, committed."""

    progress: SweepProgress
    changes: Sequence[SweepChange] = ()
    refused: Sequence[SweepRefusal] = ()


SweepEvents: TypeAlias = AsyncGenerator[SweepPart | SweepLlm | SweepReport, None]
"""With a language model, what that will take comes first."""


async def sweep(ground: Ground, request: SweepRequest) -> SweepEvents:
    """Sweep, part by part; the last event is the report, without its changes.

    Raises InvalidInput for a domain that no memory names or a plan of another namespace, LeaseHeld while another sweep
    works here, NotFound and Conflict for a run that cannot be resumed.
    """
    _check(ground, request)
    started = time.monotonic()
    # Closed at once when the caller leaves, so that the lease is free again.
    async with aclosing(_dry(ground, request) if request.dry_run else _real(ground, request)) as events:
        async for event in events:
            if isinstance(event, SweepReport):
                tell_run(event, time.monotonic() - started)
            yield event


async def _dry(ground: Ground, request: SweepRequest) -> SweepEvents:
    config = config_of(request)
    scope = await scope_of(ground, config)
    adviser = None
    if ground.llm is not None and config.llm:
        survey = await surveyed(ground, ground.llm, scope, config)
        yield survey.told
        adviser = await examined(ground.llm, survey)
    day = sweep_state.day_of()
    number = await graph.next_number(ground.executor, ground.namespace, day)
    state, started_at = State(stage="edges"), datetime.now(UTC)
    async for part in planned_pages(ground, scope, config, state, adviser):
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
        llm=None if adviser is None else adviser.told,
        actor=actor.get(),
        started_at=started_at,
        finished_at=datetime.now(UTC),
    )


async def _real(ground: Ground, request: SweepRequest) -> SweepEvents:
    async with leased(ground.executor, lease_name(ground.namespace), holder()) as lease:
        told = None
        if ground.llm is not None and request.llm and not (request.resume or request.plan):
            config = config_of(request)
            survey = await surveyed(ground, ground.llm, await scope_of(ground, config), config)
            yield survey.told
            told = (await examined(ground.llm, survey)).told
        run = await _taken_up(ground, request) if request.resume else await _begun(ground, request, told)
        writer = _Writer(ground, run.sweep_id, lease, sweep_state.decoded(run.progress))
        config = sweep_state.config_of(run)
        parts = _by_scope(writer, config) if request.plan is None else _by_plan(writer, request.plan)
        async for part in parts:
            part.progress.sweep_id = run.sweep_id
            yield part
        await writer.finish()
        finished = await graph.get(ground.executor, ground.namespace, run.sweep_id)
        if finished is None:
            raise NotFound("the sweep's record was deleted while it ran")
        yield sweep_state.report_of(ground.namespace, finished)


async def _by_scope(writer: "_Writer", config: SweepConfig) -> AsyncGenerator[SweepPart, None]:
    ground = writer.ground
    scope = await scope_of(ground, config, ask=False)
    adviser = _adviser(ground, writer.state)
    async for part in planned_pages(ground, scope, config, writer.state, adviser, drawn=True):
        after = writer.state.copy()
        after.stage, after.after, after.done = part.stage, part.page[-1].position, part.progress.done
        after.llm = None if adviser is None else adviser.told
        if part.planned:
            after.looked_at(part.page, part.planned)
        done, refused = await writer.apply(part.changes, after)
        yield SweepPart(part.progress, done, refused)


def _adviser(ground: Ground, state: State) -> Adviser | None:
    """The language model as it was examined when the run began; None where it takes no part."""
    if state.llm is None or ground.llm is None:
        return None
    return Adviser(ground.llm.model, ground.llm.calls_per_memory, state.llm)


async def _by_plan(writer: "_Writer", plan: SweepReport) -> AsyncGenerator[SweepPart, None]:
    planned = list(chunks(plan.changes))
    for number, chunk in enumerate(planned, start=1):
        if number <= writer.state.done:
            continue
        after = writer.state.copy()
        after.done = number
        done, refused = await writer.apply(chunk, after)
        yield SweepPart(SweepProgress(stage="plan", done=number, total=len(planned)), done, refused)


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
        before, self.state = self.state.changes, _settled(after, changes, applied)
        done = [_done(changes[place], seq) for seq, place in enumerate(applied.done, start=before)]
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


def _done(change: SweepChange, seq: int) -> SweepChange:
    state: ChangeState = "proposed" if change.action in ("flag", "merge") else "applied"
    return msgspec.structs.replace(change, seq=seq, state=state)


def _settled(after: State, changes: Sequence[SweepChange], applied: graph.Applied) -> State:
    settled = after.copy()
    settled.settle(changes, applied)
    return settled


async def _begun(ground: Ground, request: SweepRequest, llm: SweepLlm | None) -> graph.Run:
    plan = request.plan
    config = config_of(request) if plan is None else plan.config
    if plan is None:
        await scope_of(ground, config)
    state = State(stage="edges", llm=llm) if plan is None else _state_by(plan)
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
    if sweep_state.decoded(run.progress).llm is not None and ground.llm is None:
        raise InvalidInput(
            "the sweep was begun with a language model", field="$.resume", remedy="Set LLM_BASE_URL and LLM_MODEL."
        )
    if run.status != "applying":
        raise Conflict(f"the sweep is {run.status} and has nothing to resume", field="$.resume")
    if run.plan_hash != plan_hash(request.plan):
        raise Conflict(
            "the sweep had another plan, or none", field="$.plan", remedy="Resume it with the plan it was begun with."
        )
    return run


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


def _check(ground: Ground, request: SweepRequest) -> None:
    """Refuse what cannot be meant."""
    if request.llm and ground.llm is None:
        raise InvalidInput("no language model is configured", field="$.llm", remedy="Set LLM_BASE_URL and LLM_MODEL.")
    filters = request.filters or Filters()
    if filters.kinds is not None and filters.kinds != ["memory"]:
        raise InvalidInput("a sweep looks at memories only", field="$.filters.kinds")
    scoped = config_of(request) != SweepConfig(llm=request.llm)
    if scoped and (request.resume or request.plan):
        raise InvalidInput("a plan or an earlier run brings its own scope", field="$.resume", remedy="Leave it out.")
    if request.dry_run and (request.resume or request.plan):
        raise InvalidInput("a dry run makes a plan, it takes none", field="$.dry_run")
    if request.plan is not None:
        _check_plan(ground.namespace, request.plan)


def _check_plan(namespace: str, plan: SweepReport) -> None:
    if not plan.dry_run:
        raise InvalidInput("this is the report of a sweep that was applied, no plan", field="$.plan")
    if plan.namespace != namespace:
        raise InvalidInput("this plan was made in another namespace", field="$.plan.namespace")
    if plan.changes_left_out:
        raise InvalidInput(
            "this plan is not whole", field="$.plan.changes_left_out", remedy="Use the plan that the dry run saved."
        )
