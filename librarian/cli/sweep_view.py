"""The report of a sweep: streamed into a file, printed as JSON, or as tables for a human."""

import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from io import BytesIO
from pathlib import Path
from typing import IO

import msgspec
import typer

from librarian.cli.display import table
from librarian.cli.runtime import say
from librarian.contracts.sweeps import SweepChange, SweepList, SweepLlm, SweepRefusal, SweepReport, SweepUndoOutput
from librarian.errors import CannotWrite
from librarian.transfer.atomic import whole_file

_SAMPLES = 12
_MOST_REFUSED = 1000
_SHOWN_CHARS = 80
_BLOCK = 1 << 16
_ROOM = "Make room there, or make it writable."
_TEMPORARY_ROOM = "Make room there, or let TMPDIR name a folder that can be written."


class ReportFile:
    """Changes of a sweep as they come, in a file of its own that nobody else may read: however many there are, memory
    holds a few of them.

    The file lies in `plans` where a plan is to be kept there, else where temporary files do; with `whole` false nobody
    asks for more than the first changes, and there is none. What cannot be written raises CannotWrite: as early as can
    be, so that no plan is made in vain.
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
            with self._written():
                if self._plans is not None:
                    self._plans.mkdir(mode=0o700, parents=True, exist_ok=True)
                self._changes = tempfile.TemporaryFile(dir=self._plans)
        return self

    def __exit__(self, *_error: object) -> None:
        """Forget the changes; a plan that was kept stays."""
        with suppress(OSError):  # what did not fit does not fit now either
            self._changes.close()

    def add(self, changes: Sequence[SweepChange], refused: Sequence[SweepRefusal]) -> None:
        """Take over a part of the sweep."""
        self._samples.extend(changes[: _SAMPLES - len(self._samples)])
        self.refused.extend(refused[: _MOST_REFUSED - len(self.refused)])
        if self._whole:
            with self._written():
                for change in changes:
                    self._changes.write(b"," if self._changes.tell() else b"")
                    self._changes.write(msgspec.json.encode(change))
                self._changes.flush()

    def sample(self) -> Sequence[SweepChange]:
        """The first changes."""
        return self._samples

    def keep(self, report: SweepReport) -> Path:
        """Save the report as a plan, whole or not at all and for its owner only; returns where."""
        if self._plans is None:
            raise AssertionError("no plan is to be kept")
        path = self._plans / f"{report.namespace.replace(':', '_')}-{report.sweep_id}.plan.json"
        with self._written(), whole_file(path) as file:
            file.writelines(self._blocks(report))
        return path

    def print(self, report: SweepReport) -> None:
        """Print the report as JSON, the only thing on standard output."""
        for block in self._blocks(report):
            sys.stdout.buffer.write(block)
        sys.stdout.buffer.write(b"\n")
        sys.stdout.buffer.flush()

    @contextmanager
    def _written(self) -> Iterator[None]:
        """Raises CannotWrite with what cannot be written, and what to do."""
        where, remedy = (self._plans, _ROOM) if self._plans else ("the folder for temporary files", _TEMPORARY_ROOM)
        try:
            yield
        except CannotWrite as error:
            error.remedy = remedy
            raise
        except OSError as error:
            raise CannotWrite(f"{where} cannot be written: {error.strerror}", remedy=remedy) from error

    def _blocks(self, report: SweepReport) -> Iterator[bytes]:
        """The report as JSON, with the changes in their place."""
        before, behind = msgspec.json.encode(report).split(b'"changes":[]', 1)
        yield before + b'"changes":['
        self._changes.seek(0)
        while block := self._changes.read(_BLOCK):
            yield block
        yield b"]" + behind


def show_report(report: SweepReport, samples: Sequence[SweepChange]) -> None:
    """Print what a sweep did, or would do."""
    typer.echo(f"{report.sweep_id} ({'dry run, nothing is changed' if report.dry_run else report.status})")
    summary, findings = report.summary, report.findings
    rows = [
        ("memories scanned", summary.memories_scanned),
        ("retyped", summary.memories_retyped),
        ("templated", summary.memories_templated),
        ("causal edges", summary.causal_edges_created),
        ("causal edges proposed", findings.edges_proposed),
        ("related", findings.related_created),
        ("flagged, type unknown", summary.unknown_flagged),
        ("merges proposed", findings.merges_proposed),
        ("left as they were, sections would lose words", findings.templates_refused),
        ("refused, changed since the plan", findings.refused),
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
    if findings.saturated:
        say("Importance is saturated: more than half of the memories have 9 or 10.")
    if samples:
        table(("memory", "action", "what"), [(one.memory_id, one.action, _told(one)) for one in samples])
    for refusal in report.refused[:_SAMPLES]:
        say(f"refused: {refusal.action} of {refusal.memory_id}, {refusal.reason} since")


def estimate(llm: SweepLlm) -> str:
    """What a language model will be asked, in one line."""
    minutes = llm.seconds_expected / 60
    return (
        f"About {llm.calls_expected} questions to {llm.model}: some {llm.tokens_expected} tokens of text and "
        f"{minutes:.0f} minutes."
    )


def show_sweeps(found: SweepList) -> None:
    """Print a list of sweeps."""
    rows = [
        (one.sweep_id, one.status, one.started_at, one.summary.memories_retyped, one.summary.memories_templated,
         one.summary.causal_edges_created)
        for one in found.sweeps
    ]  # fmt: skip
    table(("sweep", "status", "started", "retyped", "templated", "edges"), rows)


def show_undo(done: SweepUndoOutput) -> None:
    """Print what an undo took back."""
    rows = [
        ("memories restored", done.memories_restored),
        ("edges removed", done.edges_removed),
        ("proposals withdrawn", done.proposals_withdrawn),
        ("kept", done.changes_kept),
    ]
    table(("", done.sweep_id), rows)
    if done.kept:
        table(("memory", "kept", "why"), [(one.memory_id, one.action, one.reason) for one in done.kept])


def _show_llm(llm: SweepLlm) -> None:
    agreed = f"{llm.agreed} of {llm.examined} known types told rightly"
    trust = "trusted" if llm.trusted else "not trusted: what it says is only proposed"
    say(f"{llm.model} was asked {llm.calls} times, {llm.unusable} answers of no use; {agreed}, {trust}.")


def _told(change: SweepChange) -> str:
    match change.action:
        case "retype" | "flag":
            sure = f"{change.confidence or 0:.2f}"
            return f"{change.old_type or 'none'} -> {change.new_type} ({sure}, {change.reason})"
        case "template":
            return " ".join((change.text or "").split())[:_SHOWN_CHARS]
        case "merge":
            return f"into {change.target_id}"
        case _:
            return f"{change.relation} {change.target_id} ({change.confidence or 0:.2f}, {change.edge_state})"
