"""How far a sweep has come: kept with its run in every transaction, so that it can be taken up again."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Literal

import msgspec
from msgspec import Struct

from graph.sweep import FIRST, Applied, Run, SweptMemory
from librarian.contracts.sweeps import (
    SweepBrief,
    SweepChange,
    SweepConfig,
    SweepFindings,
    SweepLlm,
    SweepRefusal,
    SweepReport,
    SweepSummary,
)
from librarian.usecases.sweep_texts import PlannedText

Stage = Literal["edges", "texts", "plan", "done"]

_HIGH = 9


class State(Struct, kw_only=True):
    """What a run has done. `after` is the memory that the stage has come to, `done` how many it has looked at (of a
    plan: its chunks); `changes` numbers what is recorded.
    """

    stage: Stage
    after: tuple[str, str] = FIRST
    done: int = 0
    changes: int = 0
    summary: SweepSummary = msgspec.field(default_factory=SweepSummary)
    findings: SweepFindings = msgspec.field(default_factory=SweepFindings)
    plan: str | None = None
    llm: SweepLlm | None = None

    def copy(self) -> "State":
        """The same, to be counted on."""
        return decoded(encoded(self))

    def looked_at(self, page: Sequence[SweptMemory], planned: Sequence[PlannedText]) -> None:
        """Count a page of the stage "texts"."""
        self.summary.memories_scanned += len(page)
        for memory, plan in zip(page, planned, strict=True):
            _survey(self.findings, memory, plan)

    def count(self, changes: Iterable[SweepChange]) -> None:
        """Count changes that are made, or would be."""
        for change in changes:
            self.changes += 1
            _count(self.summary, self.findings, change)

    def settle(self, changes: Sequence[SweepChange], applied: Applied) -> None:
        """Count what became of a chunk of changes."""
        self.count(changes[place] for place in applied.done)
        self.findings.refused += len(applied.refused)


def encoded(state: State) -> str:
    """The state as the run keeps it."""
    return msgspec.json.encode(state).decode()


def decoded(progress: str) -> State:
    """The state that `encoded` put away."""
    return msgspec.json.decode(progress, type=State)


def refusals(changes: Sequence[SweepChange], applied: Applied) -> list[SweepRefusal]:
    """What of a chunk was refused."""
    return [
        SweepRefusal(memory_id=changes[place].memory_id, action=changes[place].action, reason=reason)
        for place, reason in sorted(applied.refused.items())
    ]


def config_of(run: Run) -> SweepConfig:
    """How the run was asked for."""
    return msgspec.json.decode(run.config, type=SweepConfig)


def report_of(namespace: str, run: Run) -> SweepReport:
    """The run's report, without its changes."""
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
    """The run in a list."""
    return SweepBrief(
        sweep_id=run.sweep_id,
        status=run.status,
        config=config_of(run),
        summary=decoded(run.progress).summary,
        actor=run.actor,
        started_at=run.started_at,
        finished_at=run.finished_at,
    )


def day_of(moment: datetime | None = None) -> str:
    """What the ids of a day's sweeps begin with, by UTC."""
    return f"sweep-{(moment or datetime.now(UTC)):%Y%m%d}-"


def _count(summary: SweepSummary, findings: SweepFindings, change: SweepChange) -> None:
    match change.action:
        case "retype":
            summary.memories_retyped += 1
        case "template":
            summary.memories_templated += 1
            findings.template_warnings += bool(change.warnings)
        case "flag":
            summary.unknown_flagged += 1
        case "merge":
            findings.merges_proposed += 1
        case "causal_edge" if change.relation == "RelatesTo":
            findings.related_created += 1
        case "causal_edge" if change.edge_state == "accepted":
            summary.causal_edges_created += 1
        case _:
            findings.edges_proposed += 1


def _survey(findings: SweepFindings, memory: SweptMemory, plan: PlannedText) -> None:
    properties = memory.properties
    importance = properties.get("importance")
    _tally(findings.types_before, properties.get("type"))
    _tally(findings.types_after, plan.type_after)
    findings.missing_agent += properties.get("agent") is None
    findings.missing_type += properties.get("type") in (None, "Unknown")
    findings.missing_time += properties.get("occurred_at") is None
    findings.missing_importance += importance is None
    findings.templates_refused += plan.refused
    if importance is None:
        return
    _tally(findings.importance, str(importance))
    findings.importance_saturated += importance >= _HIGH
    findings.saturated = 2 * findings.importance_saturated > sum(findings.importance.values())


def _tally(counts: dict[str, int], name: str | None) -> None:
    counts[name or "none"] = counts.get(name or "none", 0) + 1
