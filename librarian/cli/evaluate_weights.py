"""`librarian eval weights`."""

from librarian.cli.display import Bar, table
from librarian.cli.evaluate_options import DataOption, ReportOption, check_reports, data_of, write_reports
from librarian.cli.opening import opened
from librarian.cli.options import JsonOption
from librarian.cli.runtime import print_json, run_async, settings_for
from librarian.contracts.evaluation import WeightsReport
from librarian.lab import Lab
from librarian.usecases.evaluate_weights import SHOWN


def weights(data: DataOption = None, report: ReportOption = None, *, as_json: JsonOption = False) -> None:
    """Tune the weights of signals on all conversations but one, and try them on that one, each in turn."""

    async def work() -> None:
        check_reports(report or [])
        settings = settings_for()
        named = data_of(data, settings)
        async with opened(settings, "eval") as librarian:
            with Bar("Asking") as bar:
                found = await Lab(librarian).weights(named, on_progress=bar.update)
        write_reports(report or [], found)
        if as_json:
            print_json(found)
        else:
            _show(found)

    run_async(work)


def _show(report: WeightsReport) -> None:
    for name, folds in report.datasets.items():
        head = ("left out", "questions", *(f"{metric} {kind}" for metric in SHOWN for kind in ("as is", "tuned")))
        rows = [
            (
                fold.left_out,
                fold.questions,
                *(f"{own[metric]:.3f}" for metric in SHOWN for own in (fold.as_is, fold.tuned)),
            )
            for fold in folds
        ]
        table(head, rows, title=name)
        signals = list(folds[0].weights)
        table(
            ("left out", *signals), [(fold.left_out, *fold.weights.values()) for fold in folds], title="Tuned weights"
        )
