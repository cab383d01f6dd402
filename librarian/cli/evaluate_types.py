"""`librarian eval types`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from librarian.cli.display import table
from librarian.cli.options import JsonOption
from librarian.cli.runtime import print_json, run_async, say, settings_for
from librarian.contracts.evaluation_types import TypesEvalReport
from librarian.errors import InvalidInput
from librarian.usecases.evaluate_types import evaluate_types
from librarian.wiring import open_encoder

_SHORT = 4
_FILE = Path("memory_types") / "memories.jsonl"


def types(
    data: Annotated[
        Path | None, typer.Option(metavar="FILE", help=f"Labelled texts. Default: {_FILE} in LIBRARIAN_EVAL_DATA.")
    ] = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Tell the types of labelled memories, and score what is told. Needs no database."""

    async def work() -> None:
        file = _file(data)
        async with open_encoder(settings_for()) as encoder:
            report = await evaluate_types(file, encoder)
        if as_json:
            print_json(report)
        else:
            _show(report)

    run_async(work)


def _file(given: Path | None) -> Path:
    if given is not None:
        return given / _FILE.name if given.is_dir() else given
    folder = settings_for().eval_data
    if folder is None:
        raise InvalidInput("no data is named", field="--data", remedy="Give --data FILE or set LIBRARIAN_EVAL_DATA.")
    return folder / _FILE


def _show(report: TypesEvalReport) -> None:
    head = ("type", "texts", "precision", "recall", "F1")
    table(head, _scores(report), title=f"{report.file}: {report.texts} texts, macro-F1 {report.macro_f1:.3f}")
    table(("label", *(name[:_SHORT] for name in report.confusion)), _confusion(report), title="Told types")
    say(
        f"Written without asking: {report.auto_applied} ({report.coverage:.0%}), of which "
        f"{_number(report.auto_applied_precision)} right. Space: {report.space or 'words alone'}."
    )


def _scores(report: TypesEvalReport) -> Iterator[tuple[str, ...]]:
    for name, scores in report.types.items():
        yield name, str(scores.labelled), _number(scores.precision), _number(scores.recall), f"{scores.f1:.3f}"


def _confusion(report: TypesEvalReport) -> Iterator[tuple[str, ...]]:
    for name, told in report.confusion.items():
        yield name, *(str(count) for count in told.values())


def _number(share: float | None) -> str:
    return "-" if share is None else f"{share:.3f}"
