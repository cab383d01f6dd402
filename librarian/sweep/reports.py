"""Progress of a sweep, stored with its run in every transaction so that it can be resumed, and reports.

`State` counts; `report_of` makes a report of a stored run, `list_sweeps` and `get_sweep` serve callers.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Literal

import msgspec
from msgspec import Struct

from graph import sweep as graph
from graph.executor import Executor
from graph.item import Memory
from graph.sweep import FIRST, Applied, Edge, RecordedChange, Run, StatedFact, SweptMemory
from librarian.base import cursors
from librarian.base.errors import NotFound
from librarian.base.strictjson import convert
from librarian.sweep.changes import Change, Expire, Flag, Merge, Retype, Template, to_wire
from librarian.sweep.contracts import (
    ProposedFact,
    SweepBrief,
    SweepChange,
    SweepConfig,
    SweepFindings,
    SweepList,
    SweepLlm,
    SweepQuery,
    SweepRefusal,
    SweepReport,
    SweepSummary,
)

NEWEST = "t"
"""Sorts after the id of every sweep: a list before it starts with the newest."""

Stage = Literal["edges", "texts", "facts", "plan", "done"]

_HIGH = 9
_SHOWN = 30


class State(Struct, kw_only=True):
    """Progress of a run.

    `after` is the last memory of the stage, `done` the number it has read (for a plan: its chunks); `changes` numbers
    the recorded changes. `start` is the memory after which a limited run begins, and `swept_before` the number of
    memories of its scope that earlier runs have read.
    """

    stage: Stage
    start: tuple[str, str] = FIRST
    swept_before: int = 0
    after: tuple[str, str] = FIRST
    done: int = 0
    changes: int = 0
    summary: SweepSummary = msgspec.field(default_factory=SweepSummary)
    findings: SweepFindings = msgspec.field(default_factory=SweepFindings)
    plan: str | None = None
    llm: SweepLlm | None = None

    def copy(self) -> "State":
        """Return a copy to continue counting on."""
        return decoded(encoded(self))

    def looked_at(self, page: Sequence[SweptMemory], changes: Sequence[Change], refused: int, left: int) -> None:
        """Count a page of the stage "texts", followed by `left` memories.

        `refused` texts stay unchanged, as their sections could not be written without loss.
        """
        self.findings.memories_left = left
        self.findings.templates_refused += refused
        self.summary.memories_scanned += len(page)
        new_types = {change.memory_id: change.new_type for change in changes if isinstance(change, Retype)}
        for memory in page:
            _survey(self.findings, memory.item, new_types.get(memory.item.uid, memory.item.type))

    def count(self, changes: Iterable[Change]) -> None:
        """Count changes that are made, or would be."""
        for change in changes:
            self.changes += 1
            _count(self.summary, self.findings, change)

    def settle(self, changes: Sequence[Change], applied: Applied) -> None:
        """Count the outcome of a chunk of changes."""
        self.count(changes[index] for index in applied.done)
        self.findings.refused += len(applied.refused)


def encoded(state: State) -> str:
    """Return the state in the run's stored form."""
    return msgspec.json.encode(state).decode()


def decoded(progress: str) -> State:
    """Return the state that `encoded` wrote."""
    return msgspec.json.decode(progress, type=State)


def refusals(changes: Sequence[Change], applied: Applied) -> list[SweepRefusal]:
    """Return the refused changes of a chunk."""
    return [
        SweepRefusal(memory_id=changes[index].memory_id, action=to_wire(changes[index]).action, reason=reason)
        for index, reason in sorted(applied.refused.items())
    ]


def config_of(run: Run) -> SweepConfig:
    """Return the configuration of the run."""
    return msgspec.json.decode(run.config, type=SweepConfig)


def report_of(namespace: str, run: Run) -> SweepReport:
    """Return the run's report, without its changes."""
    state = decoded(run.progress)
    return SweepReport(
        sweep_id=run.sweep_id,
        dry_run=False,
        config=config_of(run),
        summary=state.summary,
        changes=[],
        namespace=namespace,
        status=run.status,
        findings=state.findings,
        llm=state.llm,
        plan=state.plan,
        actor=run.actor,
        started_at=run.started_at,
        finished_at=run.finished_at,
    )


def brief_of(run: Run) -> SweepBrief:
    """Return the run in the form of lists."""
    state = decoded(run.progress)
    return SweepBrief(
        sweep_id=run.sweep_id,
        status=run.status,
        config=config_of(run),
        summary=state.summary,
        facts=state.findings.facts_accepted + state.findings.facts_proposed,
        actor=run.actor,
        started_at=run.started_at,
        finished_at=run.finished_at,
    )


def day_of(moment: datetime | None = None) -> str:
    """Return the prefix of the ids of a day's sweeps, by UTC."""
    return f"sweep-{(moment or datetime.now(UTC)):%Y%m%d}-"


def shortened(report: SweepReport) -> SweepReport:
    """Return the report with a readable number of changes; the result cannot be used as a plan."""
    left_out = report.changes_left_out + max(0, len(report.changes) - _SHOWN)
    return msgspec.structs.replace(report, changes=report.changes[:_SHOWN], changes_left_out=left_out)


async def list_sweeps(executor: Executor, namespace: str, query: SweepQuery) -> SweepList:
    """Return a page of the sweeps of `namespace`, the newest first. Raises InvalidInput for another query's cursor."""
    before = _position(namespace, query, query.cursor) if query.cursor else NEWEST
    found = await graph.list_runs(executor, namespace, before=before, limit=query.limit + 1)
    runs, next_cursor = cursors.page(namespace, query, found, query.limit, lambda run: [run.sweep_id])
    return SweepList(sweeps=[brief_of(run) for run in runs], next_cursor=next_cursor)


async def get_sweep(executor: Executor, namespace: str, sweep_id: str, query: SweepQuery) -> SweepReport:
    """Return a sweep with one page of its changes; the changed texts are in the memories and their revisions.

    Raises NotFound, InvalidInput for a cursor of another query.
    """
    run = await graph.get(executor, namespace, sweep_id)
    if run is None:
        raise no_sweep(namespace)
    scope = f"{namespace} {sweep_id}"
    after = int(_position(scope, query, query.cursor)) if query.cursor else -1
    found = await graph.changes(executor, namespace, sweep_id, after=after, limit=query.limit + 1)
    changes, next_cursor = cursors.page(scope, query, found, query.limit, lambda change: [str(change.seq)])
    report = report_of(namespace, run)
    report.changes = [recorded_change(change) for change in changes]
    if next_cursor is not None:
        report.next_cursor = next_cursor
    return report


def recorded_change(recorded: RecordedChange) -> SweepChange:
    """Return a recorded change in the form of reports."""
    known = asdict(recorded) | {
        "memory_id": recorded.uid,
        "source_id": recorded.source,
        "target_id": recorded.target,
    }
    fields = {name: known[name] for name in SweepChange.__struct_fields__ if known.get(name) is not None}
    if recorded.fact_id is not None:
        fields["fact"] = fact_out(recorded)
    if recorded.action in ("retype", "flag"):
        fields.setdefault("old_type", None)
    return convert(fields, SweepChange)


def fact_out(recorded: RecordedChange) -> ProposedFact:
    """Return the fact of a recorded change."""
    return convert({name: getattr(recorded, name) for name in ProposedFact.__struct_fields__}, ProposedFact)


def no_sweep(namespace: str) -> NotFound:
    """Return the error for a run missing from `namespace`."""
    return NotFound(f"namespace {namespace!r} has no such sweep", field="sweep_id")


def _position(scope: str, query: SweepQuery, cursor: str) -> str:
    match cursors.decode(scope, query, cursor):
        case [position] if position.isdigit() or position.startswith("sweep-"):
            return position
    raise cursors.invalid()


def _count(summary: SweepSummary, findings: SweepFindings, change: Change) -> None:
    match change:
        case Retype():
            summary.memories_retyped += 1
        case Template():
            summary.memories_templated += 1
            findings.template_warnings += bool(change.warnings)
        case Flag():
            summary.unknown_flagged += 1
        case Merge():
            findings.merges_proposed += 1
        case Expire():
            findings.expired += 1
        case StatedFact():
            findings.facts_proposed += change.state == "proposed"
            findings.facts_accepted += change.state == "accepted"
        case Edge(state="proposed"):
            findings.edges_proposed += 1
        case Edge(type="RELATES_TO"):
            findings.related_created += 1
        case Edge():
            summary.causal_edges_created += 1


def _survey(findings: SweepFindings, item: Memory, type_after: str | None) -> None:
    importance = item.importance
    _tally(findings.types_before, item.type)
    _tally(findings.types_after, type_after)
    findings.missing_agent += item.agent is None
    findings.missing_type += item.type in (None, "Unknown")
    findings.missing_time += item.occurred_at is None
    findings.missing_importance += importance is None
    if importance is not None:
        _tally(findings.importance, str(importance))
        findings.importance_saturated += importance >= _HIGH
    findings.saturated = 2 * findings.importance_saturated > sum(findings.types_before.values())


def _tally(counts: dict[str, int], name: str | None) -> None:
    counts[name or "none"] = counts.get(name or "none", 0) + 1
