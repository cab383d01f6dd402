"""Running a sweep: over a scope, by a plan, or resumed after an interruption.

First edges and merges, from the original texts; then types and texts. A dry run makes the same plan without a lease to
write with.
"""

import hashlib
import os
import socket
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeAlias

import msgspec
import structlog

from graph import sweep as graph
from graph import sweep_writes as writes
from graph.leases import Lease, leased
from librarian.base import metrics
from librarian.base.audit import actor
from librarian.base.errors import Conflict, InvalidInput, NotFound
from librarian.items.contracts import Filters
from librarian.items.succession import proposals
from librarian.sweep import reports, retention
from librarian.sweep.apply import chunk_of, chunks, needs_of
from librarian.sweep.changes import Change, from_wire, is_proposed, to_wire
from librarian.sweep.contracts import (
    SweepChange,
    SweepConfig,
    SweepLlm,
    SweepPart,
    SweepProgress,
    SweepRefusal,
    SweepReport,
    SweepRequest,
)
from librarian.sweep.facts import facts_to_store
from librarian.sweep.llm import Adviser, examined
from librarian.sweep.plan import SweepContext, config_of, first_state, planned_pages, scope_of, surveyed
from librarian.sweep.reports import State

MAX_CHANGES = 1000
"""Maximum changes per answer; those of an applied sweep are read page by page."""

log = structlog.stdlib.get_logger("librarian.sweep")


SweepEvents: TypeAlias = AsyncGenerator[SweepPart | SweepLlm | SweepReport, None]
"""With a language model, its expected questions come first."""


async def sweep(context: SweepContext, request: SweepRequest) -> SweepEvents:
    """Sweep in parts; the last event is the report, without its changes.

    Raises InvalidInput for a domain that no memory names or a plan of another namespace, LeaseHeld while another sweep
    is running here, NotFound and Conflict for a run that cannot be resumed.
    """
    _check(context, request)
    started = time.monotonic()
    # Closed immediately when the caller leaves, to release the lease.
    async with aclosing(_dry(context, request) if request.dry_run else _real(context, request)) as events:
        async for event in events:
            if isinstance(event, SweepReport):
                log_run(event, time.monotonic() - started)
            yield event


async def collected(sweep: SweepEvents, on_progress: Callable[[SweepProgress], None] | None) -> SweepReport:
    """Return the report of a sweep with the first of its changes and refusals."""
    changes: list[SweepChange] = []
    refused: list[SweepRefusal] = []
    found = 0
    async with aclosing(sweep) as events:
        async for event in events:
            if isinstance(event, SweepReport):
                event.changes, event.refused = changes, refused
                event.changes_left_out = found - len(changes)
                return event
            if isinstance(event, SweepLlm):
                continue
            found += len(event.changes)
            changes.extend(event.changes[: MAX_CHANGES - len(changes)])
            refused.extend(event.refused[: MAX_CHANGES - len(refused)])
            if on_progress:
                on_progress(event.progress)
    raise RuntimeError("a sweep ends with its report")


def log_run(report: SweepReport, seconds: float) -> None:
    """Log and count a finished sweep."""
    log.info(
        "LibrarianSweepRun",
        timestamp=datetime.now(UTC).isoformat(),
        sweep_id=report.sweep_id,
        memories_processed=report.summary.memories_scanned,
        dry_run=report.dry_run,
        domains=report.config.domains,
        duration_ms=round(seconds * 1000),
    )
    label = str(report.dry_run).lower()
    metrics.sweeps.labels(label).inc()
    metrics.swept.labels(label).inc(report.summary.memories_scanned)
    metrics.sweep_seconds.observe(seconds)


def log_changes(changes: Sequence[SweepChange]) -> None:
    """Log and count changes that are committed."""
    for change in changes:
        if change.action == "retype":
            log.info(
                "MemoryRetyped",
                memory_id=change.memory_id,
                old_type=change.old_type or None,
                new_type=change.new_type,
                confidence=change.confidence,
            )
        elif change.action == "causal_edge":
            log.info(
                "CausalEdgeInferred",
                source_id=change.memory_id,
                target_id=change.target_id,
                relation=change.relation,
                confidence=change.confidence,
            )
        metrics.sweep_changes.labels(change.action, change.new_type or change.relation or "").inc()


async def _dry(context: SweepContext, request: SweepRequest) -> SweepEvents:
    config = config_of(request)
    scope = await scope_of(context, config)
    adviser = None
    if context.llm is not None and config.llm:
        survey = await surveyed(context, context.llm, scope, config)
        yield survey.report
        adviser = await examined(context.llm, survey.known, survey.report)
    day = reports.day_of()
    number = await graph.next_number(context.executor, context.namespace, day)
    state, started_at = await first_state(context, scope, config), datetime.now(UTC)
    state.findings.purged = await retention.due(context.executor, context.namespace, context.retention)
    ending = set[str]()
    async for expired in retention.expiring(context.executor, context.namespace, config.retention):
        state.count(expired)
        ending.update(change.memory_id for change in expired)
        yield SweepPart(_retained(len(ending)), [to_wire(change) for change in expired])
    async for part in planned_pages(context, scope, config, state, adviser, ending=ending):
        changes = [change for change in part.changes if ending.isdisjoint(needs_of(change))]
        state.count(changes)
        if part.stage == "texts":
            state.looked_at(part.page, changes, part.refused, part.left)
        state.findings.messages_read += part.messages
        yield SweepPart(part.progress, [to_wire(change) for change in changes])
    yield SweepReport(
        sweep_id=f"{day}{number:03}",
        dry_run=True,
        config=config,
        summary=state.summary,
        changes=[],
        namespace=context.namespace,
        status="planned",
        findings=state.findings,
        llm=None if adviser is None else adviser.report,
        actor=actor.get(),
        started_at=started_at,
        finished_at=datetime.now(UTC),
    )


async def _real(context: SweepContext, request: SweepRequest) -> SweepEvents:
    async with leased(context.executor, lease_name(context.namespace), holder()) as lease:
        llm = None
        if context.llm is not None and request.llm and not (request.resume or request.plan):
            config = config_of(request)
            survey = await surveyed(context, context.llm, await scope_of(context, config), config)
            yield survey.report
            llm = (await examined(context.llm, survey.known, survey.report)).report
        run = await (_resume_run(context, request) if request.resume else _start_run(context, request, llm))
        writer = _Writer(context, run.sweep_id, lease, reports.decoded(run.progress))
        config = reports.config_of(run)
        parts = _by_scope(writer, config) if request.plan is None else _by_plan(writer, request.plan)
        async for part in parts:
            part.progress.sweep_id = run.sweep_id
            yield part
        await writer.finish()
        finished = await graph.get(context.executor, context.namespace, run.sweep_id)
        if finished is None:
            raise NotFound("the sweep's record was deleted while it ran")
        yield reports.report_of(context.namespace, finished)


async def _by_scope(writer: "_Writer", config: SweepConfig) -> AsyncGenerator[SweepPart, None]:
    context = writer.context
    scope = await scope_of(context, config, ask=False)
    adviser = _adviser(context, writer.state)
    if writer.state.stage == "edges":
        async for retained in _retain(writer, config):
            yield retained
    async for part in planned_pages(context, scope, config, writer.state, adviser, drawn=True):
        after = writer.state.copy()
        after.stage, after.after, after.done = part.stage, part.position, part.progress.done
        after.llm = None if adviser is None else adviser.report
        if part.stage == "texts":
            after.looked_at(part.page, part.changes, part.refused, part.left)
        after.findings.messages_read += part.messages
        done, refused = await writer.apply(part.changes, after)
        yield SweepPart(part.progress, done, refused)


async def _retain(writer: "_Writer", config: SweepConfig) -> AsyncGenerator[SweepPart, None]:
    """Purge items that expired long ago, and let items expire by the rules. A restart finds the rest."""
    executor, namespace = writer.context.executor, writer.context.namespace
    writer.state.findings.purged += await retention.purge(executor, namespace, writer.context.retention)
    async for changes in retention.expiring(executor, namespace, config.retention):
        done, refused = await writer.apply(changes, writer.state.copy())
        yield SweepPart(_retained(writer.state.findings.expired), done, refused)


def _retained(items: int) -> SweepProgress:
    return SweepProgress(stage="retention", done=items, total=items)


def _adviser(context: SweepContext, state: State) -> Adviser | None:
    """Return the language model with its test result from the run's start; None if it is not used."""
    if state.llm is None or context.llm is None:
        return None
    return Adviser(context.llm.model, context.llm.calls_per_memory, state.llm)


async def _by_plan(writer: "_Writer", plan: SweepReport) -> AsyncGenerator[SweepPart, None]:
    planned = list(chunks([from_wire(change) for change in plan.changes]))
    for number, chunk in enumerate(planned, start=1):
        if number <= writer.state.done:
            continue
        after = writer.state.copy()
        after.done = number
        done, refused = await writer.apply(chunk, after)
        yield SweepPart(SweepProgress(stage="plan", done=number, total=len(planned)), done, refused)


@dataclass(slots=True)
class _Writer:
    """Applies chunks of one run; `state` is the committed state."""

    context: SweepContext
    sweep_id: str
    lease: Lease
    state: State

    async def apply(self, changes: Sequence[Change], after: State) -> tuple[list[SweepChange], list[SweepRefusal]]:
        """Commit a chunk together with the state `after` it. Return the changes made and those refused."""
        found = await facts_to_store(self.context.executor, self.context.namespace, changes, self.context.declared)
        applied = await writes.apply_chunk(
            self.context.executor,
            self.context.namespace,
            self.sweep_id,
            self.lease,
            chunk_of(changes, {new.item.uid: new for new in found.items}, proposals(self.context.namespace, found)),
            actor=actor.get(),
            first_seq=self.state.changes,
            progress=lambda outcome: reports.encoded(_settled(after, changes, outcome)),
        )
        before, self.state = self.state.changes, _settled(after, changes, applied)
        done = [_done(changes[index], seq) for seq, index in enumerate(applied.done, start=before)]
        log_changes(done)
        return done, reports.refusals(changes, applied)

    async def finish(self) -> None:
        """Record that the run is complete."""
        self.state.stage = "done"
        await writes.save(
            self.context.executor,
            self.context.namespace,
            self.sweep_id,
            self.lease,
            status="applied",
            progress=reports.encoded(self.state),
        )


def _done(change: Change, seq: int) -> SweepChange:
    return to_wire(change, "proposed" if is_proposed(change) else "applied", seq)


def _settled(after: State, changes: Sequence[Change], applied: graph.Applied) -> State:
    settled = after.copy()
    settled.settle(changes, applied)
    return settled


async def _start_run(context: SweepContext, request: SweepRequest, llm: SweepLlm | None) -> graph.Run:
    plan = request.plan
    config = config_of(request) if plan is None else plan.config
    if plan is None:
        state = await first_state(context, await scope_of(context, config), config)
        state.llm = llm
    else:
        state = _state_by(plan)
    sweep_id = await writes.begin(
        context.executor,
        context.namespace,
        reports.day_of(),
        config=msgspec.json.encode(config).decode(),
        plan_hash=plan_hash(plan),
        actor=actor.get(),
        progress=reports.encoded(state),
    )
    run = await graph.get(context.executor, context.namespace, sweep_id)
    if run is None:
        raise NotFound("the sweep's record was deleted while it began")
    return run


def _state_by(plan: SweepReport) -> State:
    """Return the state of a run by a plan: it reads nothing itself and reports the plan's findings."""
    counted = ("edges_proposed", "related_created", "merges_proposed", "expired", "purged")
    own = dict.fromkeys((*counted, "facts_accepted", "facts_proposed"), 0)
    findings = msgspec.structs.replace(plan.findings, **own)
    state = State(stage="plan", findings=findings, plan=plan.sweep_id)
    state.summary.memories_scanned = plan.summary.memories_scanned
    return state


async def _resume_run(context: SweepContext, request: SweepRequest) -> graph.Run:
    run = await graph.get(context.executor, context.namespace, str(request.resume))
    if run is None:
        raise reports.no_sweep(context.namespace)
    if reports.config_of(run).ingested:
        raise Conflict("messages are read as they come in, and nobody resumes that", field="$.resume")
    if reports.decoded(run.progress).llm is not None and context.llm is None:
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
    """Return the hash that identifies a plan; None without one."""
    return None if plan is None else hashlib.sha256(msgspec.json.encode(plan, order="deterministic")).hexdigest()


def lease_name(namespace: str) -> str:
    """Return the name of the sweep lease of `namespace`."""
    return f"sweep of {namespace}"


def holder() -> str:
    """Return this process's name, for others who find the lease held."""
    return f"{actor.get()} on {socket.gethostname()} (process {os.getpid()})"


def _check(context: SweepContext, request: SweepRequest) -> None:
    """Raise InvalidInput for a request that contradicts itself."""
    if request.llm and context.llm is None:
        raise InvalidInput("no language model is configured", field="$.llm", remedy="Set LLM_BASE_URL and LLM_MODEL.")
    filters = request.filters or Filters()
    if filters.kinds is not None and filters.kinds != ["memory"]:
        raise InvalidInput("a sweep looks at memories, and for facts at messages", field="$.filters.kinds")
    scoped = config_of(request) != SweepConfig(llm=request.llm, facts=False)
    if scoped and (request.resume or request.plan):
        raise InvalidInput("a plan or an earlier run brings its own scope", field="$.resume", remedy="Leave it out.")
    if request.dry_run and (request.resume or request.plan):
        raise InvalidInput("a dry run makes a plan and takes none", field="$.dry_run")
    if request.plan is not None:
        _check_plan(context.namespace, request.plan)


def _check_plan(namespace: str, plan: SweepReport) -> None:
    if not plan.dry_run:
        raise InvalidInput("the report of an applied sweep is not a plan", field="$.plan")
    if plan.namespace != namespace:
        raise InvalidInput("this plan was made in another namespace", field="$.plan.namespace")
    if plan.changes_left_out:
        raise InvalidInput(
            "incomplete plan", field="$.plan.changes_left_out", remedy="Use the plan that the dry run saved."
        )
