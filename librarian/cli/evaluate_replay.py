"""`librarian eval replay`."""

from pathlib import Path
from typing import Annotated

import typer

from librarian.cli.display import Bar, table
from librarian.cli.evaluate_options import ReportOption, check_reports, write_reports
from librarian.cli.opening import opened
from librarian.cli.options import JsonOption
from librarian.cli.runtime import print_json, run_async, say, settings_for
from librarian.contracts.evaluation import ReplayReport
from librarian.lab import Lab
from librarian.usecases.compare_rankings import DEFAULT_K


def replay(
    log: Annotated[Path, typer.Argument(metavar="LOG", help="A log of the service, as JSON lines.")],
    a: Annotated[str, typer.Argument(metavar="A", help="A search: hybrid, vector or keyword, with options.")],
    b: Annotated[str, typer.Argument(metavar="B", help="Another one.")],
    k: Annotated[int, typer.Option("--limit", "-k", min=1, max=50, help="How many hits to compare.")] = DEFAULT_K,
    report: ReportOption = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Ask the searches of a log again of two systems, and compare what they find."""

    async def work() -> None:
        check_reports(report or [])
        async with opened(settings_for(), "eval") as librarian:
            with Bar("Asking") as bar:
                found = await Lab(librarian).replay(log, a, b, k=k, on_progress=bar.update)
        write_reports(report or [], found)
        if as_json:
            print_json(found)
        else:
            show_replay(found)

    run_async(work)


def show_replay(report: ReplayReport) -> None:
    """Print how much the two share, and the queries that differ most."""
    rows = [
        (f"hits in common of the first {report.k}", f"{report.overlap:.3f}"),
        ("same hits in the same order", f"{report.identical:.3f}"),
        ("same first hit", f"{report.first:.3f}"),
        ("rank correlation of common hits", "" if report.correlation is None else f"{report.correlation:.3f}"),
        *((f"no hit from {name}", f"{share:.3f}") for name, share in report.empty.items()),
        *((f"p50 / p95 ms of {name}", f"{ms['p50']} / {ms['p95']}") for name, ms in report.latency_ms.items()),
    ]
    table(("", ""), rows, title=f"{report.queries} queries: {report.a} (a) and {report.b} (b)")
    if report.changed:
        changed = [(one.query, f"{one.overlap:.2f}", len(one.only_a), len(one.only_b)) for one in report.changed]
        table(("query", "overlap", "only a", "only b"), changed, title="Most different")
    if report.skipped:
        say(f"{report.skipped} searches were logged as hashes and cannot be asked again.")
