"""`librarian sweep`: plans, applies, undoes and lists sweeps."""

import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import aclosing, contextmanager, suppress
from io import BytesIO
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, TypeAlias

import msgspec
import typer

from librarian.base.errors import CannotWrite, InvalidInput, LibrarianError
from librarian.base.strictjson import convert, decode
from librarian.cli.asking import ask
from librarian.cli.display import Bar, table
from librarian.cli.lazy import deferred, new_app
from librarian.cli.opening import Connection, answering_without_encoder, encode_pending, reached
from librarian.cli.options import JsonOption, NamespaceOption, name_option, takes
from librarian.cli.runtime import namespace_or, run_async, say, settings_for
from librarian.cli.values import json_value
from librarian.sweep.contracts import (
    RetentionRule,
    SweepChange,
    SweepFindings,
    SweepList,
    SweepLlm,
    SweepQuery,
    SweepRefusal,
    SweepReport,
    SweepRequest,
    SweepScope,
    SweepUndoOutput,
)
from librarian.transfer import atomic

if TYPE_CHECKING:
    from librarian.client import errors
else:
    errors = deferred("librarian.client.errors")

app = new_app()
sweeps = new_app()
app.add_typer(sweeps, name="sweep")

_SHOWN_CHARS = 80
_SHOWN_REFUSALS = 12
_SAMPLES = 12
_MOST_REFUSED = 1000
_BLOCK = 1 << 16
_ROOM = "Make room there, or make it writable."
_TEMPORARY_ROOM = "Make room there, or set TMPDIR to a writable folder."


class ReportFile:
    """Collects the changes of a sweep in a private file, so that memory holds only a few of them.

    The file is in `plans` if a plan is to be kept there, else in the temporary folder; with `whole` false only the
    first changes are needed, and there is no file. Raises CannotWrite as early as possible, before planning.
    """

    def __init__(self, plans: Path | None, *, whole: bool = True) -> None:
        self.refused: list[SweepRefusal] = []
        self._plans = plans
        self._whole = whole
        self._samples: list[SweepChange] = []
        self._changes: IO[bytes] = BytesIO()

    def __enter__(self) -> "ReportFile":
        """Begin."""
        if self._whole:
            with self._cannot_write():
                if self._plans is not None:
                    self._plans.mkdir(mode=0o700, parents=True, exist_ok=True)
                self._changes = tempfile.TemporaryFile(dir=self._plans)
        return self

    def __exit__(self, *_error: object) -> None:
        """Delete the file; a saved plan stays."""
        with suppress(OSError):  # flushing fails again on a full disk
            self._changes.close()

    def add(self, changes: Sequence[SweepChange], refused: Sequence[SweepRefusal]) -> None:
        """Add a part of the sweep."""
        self._samples.extend(changes[: _SAMPLES - len(self._samples)])
        self.refused.extend(refused[: _MOST_REFUSED - len(self.refused)])
        if self._whole:
            with self._cannot_write():
                for change in changes:
                    self._changes.write(b"," if self._changes.tell() else b"")
                    self._changes.write(msgspec.json.encode(change))
                self._changes.flush()

    def sample(self) -> Sequence[SweepChange]:
        """Return the first changes."""
        return self._samples

    def keep(self, report: SweepReport) -> Path:
        """Save the report atomically as a private plan, and return its path."""
        if self._plans is None:
            raise AssertionError("no plan is to be kept")
        path = self._plans / f"{report.namespace.replace(':', '_')}-{report.sweep_id}.plan.json"
        with self._cannot_write(), atomic.whole_file(path) as file:
            file.writelines(self._blocks(report))
        return path

    def print(self, report: SweepReport) -> None:
        """Print the report as JSON, the only thing on standard output."""
        for block in self._blocks(report):
            sys.stdout.buffer.write(block)
        sys.stdout.buffer.write(b"\n")
        sys.stdout.buffer.flush()

    @contextmanager
    def _cannot_write(self) -> Iterator[None]:
        """Raise CannotWrite naming the target and a remedy."""
        target, remedy = (self._plans, _ROOM) if self._plans else ("the folder for temporary files", _TEMPORARY_ROOM)
        try:
            yield
        except CannotWrite as error:
            error.remedy = remedy
            raise
        except OSError as error:
            raise CannotWrite(f"{target} cannot be written: {error.strerror}", remedy=remedy) from error

    def _blocks(self, report: SweepReport) -> Iterator[bytes]:
        """Yield the report as JSON, with all changes inserted."""
        before, behind = msgspec.json.encode(report).split(b'"changes":[]', 1)
        yield before + b'"changes":['
        self._changes.seek(0)
        while block := self._changes.read(_BLOCK):
            yield block
        yield b"]" + behind


RetentionOption: TypeAlias = Annotated[
    str | None,
    typer.Option(metavar="RULES", help="Retention rules as JSON, instead of LIBRARIAN_RETENTION."),
]


@sweeps.callback(invoke_without_command=True)
@takes(SweepScope)
def sweep(
    scope: SweepScope,
    ctx: typer.Context,
    namespace: NamespaceOption = None,
    resume: Annotated[str | None, typer.Option(metavar="RUN", help="Continue an interrupted sweep.")] = None,
    apply: Annotated[
        Path | None, typer.Option(metavar="PLAN.json", help="Apply exactly the plan of a dry run.")
    ] = None,
    retention: RetentionOption = None,
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Change nothing; print and save the plan.")] = False,
    llm: Annotated[bool, typer.Option("--llm", help="Ask the language model where the rules are undecided.")] = False,
    facts: Annotated[bool, typer.Option("--facts", help="Also read messages for stated facts.")] = False,
    json_report: Annotated[bool, typer.Option("--json-report", help="Print the whole report as JSON.")] = False,
) -> None:
    """Classify memories, write their sections, connect causes; with a plan first, and an undo."""
    if ctx.invoked_subcommand is not None:
        return

    async def work() -> None:
        settings = settings_for()
        where = namespace_or(namespace, settings.namespace)
        request = _request(scope, dry_run=dry_run, llm=llm, facts=facts, resume=resume, plan=apply)
        request.retention = _rules(retention)
        async with reached(settings, "sweep") as librarian:
            with ReportFile(settings.home / "sweeps" if dry_run else None, whole=dry_run or json_report) as file:
                try:
                    report = await _swept(librarian, where, request, file)
                except (LibrarianError, errors.ApiError) as error:
                    name_option(error, SweepScope)
                    raise
                if report.dry_run:
                    say(f"The plan: {file.keep(report)}")
                _show(report, file, as_json=json_report)
            if not report.dry_run:
                await encode_pending(librarian, unless=False)

    run_async(work)


@sweeps.command()
def undo(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Id of the sweep: sweep-YYYYMMDD-NNN.")],
    namespace: NamespaceOption = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Undo a sweep, except for later changes."""

    async def take_back(librarian: Connection, where: str) -> SweepUndoOutput:
        done = SweepUndoOutput(sweep_id=run, status="undoing")
        with Bar("Undoing") as bar:
            async with aclosing(librarian.undo_events(where, run)) as events:
                async for event in events:
                    if isinstance(event, SweepUndoOutput):
                        done = event
                    else:
                        bar.update(event.done, event.total)
        await encode_pending(librarian, unless=False)
        return done

    ask(take_back, namespace, show_undo, purpose="sweep", as_json=as_json)


@sweeps.command("list")
def list_(namespace: NamespaceOption = None, *, as_json: JsonOption = False) -> None:
    """List the sweeps of a namespace, newest first; dry runs are not kept."""
    ask(
        lambda librarian, where: librarian.list_sweeps(where, SweepQuery()),
        namespace,
        show_sweeps,
        purpose="sweep",
        reach=answering_without_encoder,
        as_json=as_json,
    )


async def _swept(librarian: Connection, where: str, request: SweepRequest, file: ReportFile) -> SweepReport:
    """Return the report of a sweep, streaming its changes to `file`; print how to resume if it ends early."""
    interrupted = None
    try:
        with Bar("Sweeping") as bar:
            async with aclosing(librarian.sweep_events(where, request)) as events:
                async for event in events:
                    match event:
                        case SweepReport():
                            interrupted, event.refused = None, file.refused
                            return event
                        case SweepLlm():
                            say(estimate(event))
                        case _:
                            interrupted = event.progress.sweep_id
                            file.add(event.changes, event.refused)
                            bar.update(event.progress.done, event.progress.total)
    finally:
        if interrupted is not None:
            resume = f"librarian sweep --resume {interrupted}"
            say(f"{interrupted} is not finished. Its changes so far are kept; to continue: {resume}")
    raise RuntimeError("a sweep ends with its report")


def _show(report: SweepReport, file: ReportFile, *, as_json: bool) -> None:
    """Print the report; if that fails, still print what was done."""
    try:
        if as_json:
            file.print(report)
        else:
            show_report(report, file.sample())
    except OSError:
        if not report.dry_run:
            say(f"{report.sweep_id} is applied. This takes it back: librarian sweep undo {report.sweep_id}")
        raise


def _rules(retention: str | None) -> list[RetentionRule] | None:
    return None if retention is None else convert(json_value(retention, "--retention"), list[RetentionRule])


def _request(
    scope: SweepScope, *, dry_run: bool, llm: bool, facts: bool, resume: str | None, plan: Path | None
) -> SweepRequest:
    given = {name: getattr(scope, name) for name in SweepScope.__struct_fields__}
    saved = None if plan is None else _plan(plan)
    return SweepRequest(**given, dry_run=dry_run, llm=llm, facts=facts, resume=resume, plan=saved)


def _plan(path: Path) -> SweepReport:
    try:
        return decode(path.read_bytes(), SweepReport)
    except FileNotFoundError:
        raise InvalidInput(f"{path} is missing", field="--apply") from None
    except InvalidInput as error:
        raise InvalidInput(f"{os.fspath(path)} is not a plan: {error}", field="--apply") from None


def show_report(report: SweepReport, samples: Sequence[SweepChange]) -> None:
    """Print the results of a sweep or dry run."""
    typer.echo(f"{report.sweep_id} ({'dry run, nothing is changed' if report.dry_run else report.status})")
    summary, findings = report.summary, report.findings
    rows = [
        ("memories scanned", summary.memories_scanned),
        *([("left for the next sweep", findings.memories_left)] if findings.memories_left else []),
        ("retyped", summary.memories_retyped),
        ("templated", summary.memories_templated),
        ("causal edges", summary.causal_edges_created),
        ("causal edges proposed", findings.edges_proposed),
        ("related", findings.related_created),
        ("flagged, type unknown", summary.unknown_flagged),
        ("merges proposed", findings.merges_proposed),
        ("left as they were, sections would lose words", findings.templates_refused),
        *_read(findings),
        ("refused, changed since the plan", findings.refused),
        ("expired by retention", findings.expired),
        ("purged, expired long ago", findings.purged),
        ("without agent", findings.missing_agent),
        ("without time", findings.missing_time),
        ("importance 9 or 10", findings.importance_saturated),
    ]
    table(("", "memories"), rows)
    types = sorted(findings.types_before.keys() | findings.types_after.keys())
    if types:
        counts = [(name, findings.types_before.get(name, 0), findings.types_after.get(name, 0)) for name in types]
        table(("type", "before", "after"), counts)
    if report.llm is not None:
        _show_llm(report.llm)
    for kind, times in findings.lessons.items():
        say(f"Only proposed, since {times} more were rejected here than accepted: {kind}")
    if findings.saturated:
        say("Importance is saturated: more than half of the memories have 9 or 10.")
    if samples:
        table(
            ("memory", "action", "what"), [(change.memory_id, change.action, _described(change)) for change in samples]
        )
    for refusal in report.refused[:_SHOWN_REFUSALS]:
        say(f"refused: {refusal.action} of {refusal.memory_id}, {refusal.reason} since")


def _read(findings: SweepFindings) -> list[tuple[str, int]]:
    """Return the rows on facts read from messages; none unless messages were read."""
    if not (findings.messages_read or findings.facts_accepted or findings.facts_proposed):
        return []
    return [
        ("messages read", findings.messages_read),
        ("facts stated in them", findings.facts_accepted),
        ("facts proposed", findings.facts_proposed),
    ]


def estimate(llm: SweepLlm) -> str:
    """Return the estimated requests to a language model, in one line."""
    minutes = llm.seconds_expected / 60
    return (
        f"About {llm.calls_expected} questions to {llm.model}: some {llm.tokens_expected} tokens of text and "
        f"{minutes:.0f} minutes."
    )


def show_sweeps(found: SweepList) -> None:
    """Print a list of sweeps."""
    rows = [
        (sweep.sweep_id, sweep.status, sweep.started_at, sweep.summary.memories_retyped,
         sweep.summary.memories_templated, sweep.summary.causal_edges_created, sweep.facts)
        for sweep in found.sweeps
    ]  # fmt: skip
    table(("sweep", "status", "started", "retyped", "templated", "edges", "facts"), rows)


def show_undo(done: SweepUndoOutput) -> None:
    """Print the results of an undo."""
    rows = [
        ("memories restored", done.memories_restored),
        ("edges removed", done.edges_removed),
        ("facts removed", done.facts_removed),
        ("proposals withdrawn", done.proposals_withdrawn),
        ("kept", done.changes_kept),
    ]
    table(("", done.sweep_id), rows)
    if done.kept:
        table(("memory", "kept", "why"), [(kept.memory_id, kept.action, kept.reason) for kept in done.kept])


def _show_llm(llm: SweepLlm) -> None:
    agreed = f"{llm.agreed} of {llm.examined} known types recognised"
    trust = "trusted" if llm.trusted else "not trusted: its answers are only proposed"
    say(f"{llm.model} was asked {llm.calls} times, {llm.unusable} answers unusable; {agreed}, {trust}.")


def _described(change: SweepChange) -> str:
    match change.action:
        case "retype" | "flag":
            sure = f"{change.confidence or 0:.2f}"
            return f"{change.old_type or 'none'} -> {change.new_type} ({sure}, {change.reason})"
        case "template":
            return " ".join((change.text or "").split())[:_SHOWN_CHARS]
        case "merge":
            return f"into {change.target_id}"
        case "expire":
            return change.reason or ""
        case "fact" if change.fact is not None:
            said = f"{change.fact.subject} {change.fact.predicate} {change.fact.object}"
            return f"{said} ({change.confidence or 0:.2f}, {change.fact_state})"
        case _:
            return f"{change.relation} {change.target_id} ({change.confidence or 0:.2f}, {change.edge_state})"
