"""`librarian eval retrieval`."""

from typing import Annotated

import typer

from librarian.cli.display import Bar, table
from librarian.cli.evaluate_options import DataOption, ReportOption, SeedOption, check_reports, data_of, write_reports
from librarian.cli.opening import opened
from librarian.cli.options import JsonOption
from librarian.cli.runtime import print_json, run_async, say, settings_for
from librarian.contracts.evaluation import EvalReport
from librarian.eval_report import html, markdown, tables
from librarian.lab import Lab
from librarian.usecases.evaluate import DEFAULT_LIMIT, Evaluation
from librarian.usecases.evaluate_systems import DEFAULT_SYSTEMS


def retrieval(
    data: DataOption = None,
    system: Annotated[
        list[str] | None,
        typer.Option(help=f"NAME,option=value,…; may be repeated. Default: {' '.join(DEFAULT_SYSTEMS)}."),
    ] = None,
    compare: Annotated[
        tuple[str, str] | None, typer.Option(metavar="A B", help="Two systems to compare question by question.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=50, help="How many hits a system may return.")] = DEFAULT_LIMIT,
    seed: SeedOption = 0,
    report: ReportOption = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Ask the questions of labelled data of each system, and score what it finds."""

    async def work() -> None:
        check_reports(report or [], ".md", ".html")
        settings = settings_for()
        names = tuple(system or DEFAULT_SYSTEMS)
        wanted = Evaluation(data_of(data, settings), names, compare, seed=seed, limit=limit)
        wanted.names()  # a misspelt one is told before anything starts
        async with opened(settings, "eval") as librarian:
            with Bar("Evaluating") as bar:
                found = await Lab(librarian).retrieval(wanted, on_progress=bar.update)
        write_reports(report or [], found, md=markdown, html=html)
        if as_json:
            print_json(found)
        else:
            _show(found)

    run_async(work)


def _show(report: EvalReport) -> None:
    for dataset in report.datasets:
        for title, (head, rows) in tables(dataset):
            table(head, rows, title=f"{dataset.dataset}: {title}")
        for system in dataset.systems:
            for note in system.notes:
                say(f"{dataset.dataset}, {system.system}: {note}")
    for note in report.notes:
        say(note)
