"""`librarian eval`."""

from pathlib import Path
from typing import Annotated

import typer

from librarian.cli.display import Bar, table
from librarian.cli.opening import opened
from librarian.cli.runtime import new_app, print_json, run_async, say, settings_for
from librarian.contracts.service import EvalReport
from librarian.errors import InvalidInput

app = new_app("Measure the quality of retrieval on labelled data.")


@app.callback()
def evaluate() -> None:
    """Measure the quality of retrieval on labelled data."""


@app.command()
def retrieval(
    data: Annotated[Path | None, typer.Option(help="Folder of labelled data; default: LIBRARIAN_EVAL_DATA.")] = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Load a folder of labelled data into namespaces of its own, ask its questions, and score each system."""

    async def work() -> None:
        settings = settings_for()
        folder = data or settings.eval_data
        if folder is None:
            raise InvalidInput("no folder is named", field="--data", remedy="Give --data or set LIBRARIAN_EVAL_DATA.")
        async with opened(settings, "eval") as librarian:
            with Bar("Evaluating") as bar:
                report = await librarian.evaluate_retrieval(folder, on_progress=bar.update)
        if as_json:
            print_json(report)
        else:
            _show(report)

    run_async(work)


def _show(report: EvalReport) -> None:
    metrics = sorted({metric for scores in report.systems.values() for metric in scores}, key=_order)
    rows = [(system, *(f"{scores[metric]:.3f}" for metric in metrics)) for system, scores in report.systems.items()]
    table(("system", *metrics), rows, title=f"{report.dataset}: {report.questions} questions")
    for note in report.notes:
        say(note)


def _order(metric: str) -> tuple[str, int]:
    name, _, cutoff = metric.partition("@")
    return {"recall": "0", "mrr": "1"}.get(name, name), int(cutoff or 0)
