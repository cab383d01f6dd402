"""`librarian sweep`."""

import os
from contextlib import aclosing
from pathlib import Path
from typing import Annotated

import typer

from librarian.cli.display import Bar
from librarian.cli.opening import encode_pending, opened
from librarian.cli.options import JsonOption, NamespaceOption
from librarian.cli.runtime import namespace_or, new_app, print_json, run_async, say, settings_for
from librarian.cli.structs import name_option, takes
from librarian.cli.sweep_view import ReportFile, estimate, show_report, show_sweeps, show_undo
from librarian.contracts.sweeps import SweepLlm, SweepQuery, SweepReport, SweepRequest, SweepScope, SweepUndoOutput
from librarian.errors import InvalidInput, LibrarianError
from librarian.service import Librarian
from librarian.strictjson import decode

app = new_app()


@app.callback(invoke_without_command=True)
@takes(SweepScope)
def sweep(
    scope: SweepScope,
    ctx: typer.Context,
    namespace: NamespaceOption = None,
    resume: Annotated[str | None, typer.Option(metavar="RUN", help="Go on with an interrupted sweep.")] = None,
    apply: Annotated[
        Path | None, typer.Option(metavar="PLAN.json", help="Change exactly what a dry run's plan lists.")
    ] = None,
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Change nothing; print and save the plan.")] = False,
    llm: Annotated[
        bool, typer.Option("--llm", help="Ask the language model about what the rules cannot tell.")
    ] = False,
    json_report: Annotated[bool, typer.Option("--json-report", help="Print the whole report as JSON.")] = False,
) -> None:
    """Tell memories' types, write their sections, connect causes; with a plan first, and back."""
    if ctx.invoked_subcommand is not None:
        return

    async def work() -> None:
        settings = settings_for()
        where = namespace_or(namespace, settings.namespace)
        request = _request(scope, dry_run=dry_run, llm=llm, resume=resume, plan=apply)
        async with opened(settings, "sweep") as librarian:
            with ReportFile(settings.home / "sweeps" if dry_run else None, whole=dry_run or json_report) as file:
                try:
                    report = await _swept(librarian, where, request, file)
                except LibrarianError as error:
                    name_option(error, SweepScope)
                    raise
                if report.dry_run:
                    say(f"The plan: {file.keep(report)}")
                _show(report, file, as_json=json_report)
            if not report.dry_run:
                await encode_pending(librarian, unless=False)

    run_async(work)


@app.command()
def undo(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Id of the sweep: sweep-YYYYMMDD-NNN.")],
    namespace: NamespaceOption = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Take back what a sweep changed, except what was changed since."""

    async def work() -> None:
        settings = settings_for()
        where = namespace_or(namespace, settings.namespace)
        async with opened(settings, "sweep") as librarian:
            with Bar("Undoing") as bar:
                done: SweepUndoOutput = await librarian.undo_sweep(
                    where, run, lambda progress: bar.update(progress.done, progress.total)
                )
            if as_json:
                print_json(done)
            else:
                show_undo(done)
            await encode_pending(librarian, unless=False)

    run_async(work)


@app.command("list")
def list_(namespace: NamespaceOption = None, *, as_json: JsonOption = False) -> None:
    """List the sweeps of a namespace, the newest first; dry runs are not kept."""

    async def work() -> None:
        settings = settings_for()
        async with opened(settings, "sweep") as librarian:
            found = await librarian.list_sweeps(namespace_or(namespace, settings.namespace), SweepQuery())
        if as_json:
            print_json(found)
        else:
            show_sweeps(found)

    run_async(work)


async def _swept(librarian: Librarian, where: str, request: SweepRequest, file: ReportFile) -> SweepReport:
    """The report of a sweep, whose changes go into `file` as they come; says what to resume if it is cut short."""
    begun = None
    try:
        with Bar("Sweeping") as bar:
            async with aclosing(librarian.sweep_events(where, request)) as events:
                async for event in events:
                    match event:
                        case SweepReport():
                            begun, event.refused = None, file.refused
                            return event
                        case SweepLlm():
                            say(estimate(event))
                        case _:
                            begun = event.progress.sweep_id
                            file.add(event.changes, event.refused)
                            bar.update(event.progress.done, event.progress.total)
    finally:
        if begun is not None:
            say(f"{begun} is not finished. What it has done is kept; this goes on: librarian sweep --resume {begun}")
    raise RuntimeError("a sweep ends with its report")


def _show(report: SweepReport, file: ReportFile, *, as_json: bool) -> None:
    """Print the report; where that fails, say what was done all the same."""
    try:
        if as_json:
            file.print(report)
        else:
            show_report(report, file.sample())
    except OSError:
        if not report.dry_run:
            say(f"{report.sweep_id} is applied. This takes it back: librarian sweep undo {report.sweep_id}")
        raise


def _request(scope: SweepScope, *, dry_run: bool, llm: bool, resume: str | None, plan: Path | None) -> SweepRequest:
    given = {name: getattr(scope, name) for name in SweepScope.__struct_fields__}
    return SweepRequest(**given, dry_run=dry_run, llm=llm, resume=resume, plan=None if plan is None else _plan(plan))


def _plan(path: Path) -> SweepReport:
    try:
        return decode(path.read_bytes(), SweepReport)
    except FileNotFoundError:
        raise InvalidInput(f"{path} is missing", field="--apply") from None
    except InvalidInput as error:
        raise InvalidInput(f"{os.fspath(path)} is no plan: {error}", field="--apply") from None
