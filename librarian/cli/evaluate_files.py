"""`librarian eval files`."""

from pathlib import Path
from typing import Annotated

import typer

from librarian.cli.display import Bar, table
from librarian.cli.evaluate_options import SeedOption
from librarian.cli.opening import opened
from librarian.cli.options import JsonOption
from librarian.cli.runtime import print_json, run_async, say, settings_for
from librarian.contracts.evaluation_files import FilesEvalReport, FindScores
from librarian.usecases.evaluate_files import FilesEvaluation, evaluate_files

_LABELS = "code_search"
_NAMESPACE = "eval:files"


def files(
    root: Annotated[Path, typer.Option("--root", metavar="DIR", help="A source tree.")],
    queries: Annotated[int, typer.Option(min=1, max=10_000, help="How many texts to search for.")] = 300,
    seed: SeedOption = 0,
    namespace: Annotated[
        str, typer.Option("--namespace", "-n", help="Where the tree is indexed, and stays.")
    ] = _NAMESPACE,
    *,
    as_json: JsonOption = False,
) -> None:
    """Compare the search of files with ripgrep on a source tree, and find its files by name.

    Labelled queries of LIBRARIAN_EVAL_DATA count as far as their files are in the tree.
    """

    async def work() -> None:
        settings = settings_for()
        labels = None if settings.eval_data is None else settings.eval_data / _LABELS
        wanted = FilesEvaluation(root, namespace, queries, seed, labels)
        async with opened(settings, "eval") as librarian:
            with Bar("Evaluating") as bar:
                report = await evaluate_files(librarian, wanted, bar.update)
        if as_json:
            print_json(report)
        else:
            _show(report)

    run_async(work)


def _show(report: FilesEvalReport) -> None:
    ours = ("search_text", f"{report.p50_ms:.1f}", f"{report.p95_ms:.1f}")
    theirs = ("rg -n -F", f"{report.ripgrep_p50_ms:.1f}", f"{report.ripgrep_p95_ms:.1f}")
    table(("", "p50 ms", "p95 ms"), (ours, theirs), title=f"{report.queries} texts in {report.files} files")
    say(f"Equal lines: {report.equal_share:.1%}. Faster than ripgrep by {report.speedup_vs_ripgrep:.1f} (median).")
    rows = [_row(name, scores) for name, scores in report.find.items()]
    if report.definitions:
        rows.append(_row("definitions", report.definitions))
    table(("find_file by", "queries", "first is right", "p50 ms", "p95 ms"), rows)
    if report.mb_per_s is not None:
        say(f"Indexed in {report.index_s:.1f} s, {report.mb_per_s:.1f} MB/s.")
    for query in report.different:
        say(f"other lines than ripgrep: {query!r}")
    for note in report.notes:
        say(note)


def _row(name: str, scores: FindScores) -> tuple[str, ...]:
    return name, str(scores.queries), f"{scores.top1:.3f}", f"{scores.p50_ms:.1f}", f"{scores.p95_ms:.1f}"
