"""`librarian eval causal`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from librarian.cli.display import table
from librarian.cli.options import JsonOption
from librarian.cli.runtime import print_json, run_async, say, settings_for
from librarian.contracts.evaluation_causal import CausalEvalReport, EdgeScores
from librarian.errors import InvalidInput
from librarian.usecases.evaluate_causal import evaluate_causal

_FILE = Path("causality") / "pairs.jsonl"
_HEAD = ("", "edges", "claimed", "right", "precision", "recall", "false alarms")


def causal(
    data: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help=f"Labelled pairs or sentences. Default: {_FILE} in LIBRARIAN_EVAL_DATA."),
    ] = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Read labelled pairs of texts for causal edges, and score what is found. Needs no database."""

    async def work() -> None:
        report = evaluate_causal(_file(data))
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


def _show(report: CausalEvalReport) -> None:
    table(_HEAD, _rows(report), title=f"{report.file}: {report.pairs} pairs")
    for note in report.notes:
        say(note)


def _rows(report: CausalEvalReport) -> Iterator[tuple[str, ...]]:
    yield _row("typed edges", report.typed)
    yield _row("accepted", report.accepted)
    for name, scores in report.relations.items():
        yield _row(name, scores)
    for name, kind in report.pair_kinds.items():
        yield _row(name, kind, f"{kind.false_alarms} of {kind.pairs_without}")
    for name, scores in report.baselines.items():
        yield _row(f"baseline {name}", scores)
    if report.detection is not None:
        yield _row("causal sentences", report.detection)


def _row(name: str, scores: EdgeScores, alarms: str = "") -> tuple[str, ...]:
    shares = ("-" if share is None else f"{share:.3f}" for share in (scores.precision, scores.recall))
    return name, str(scores.edges), str(scores.claimed), str(scores.right), *shares, alarms
