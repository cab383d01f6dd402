"""`librarian eval evidence`."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from librarian.cli.display import Bar, downloads, table
from librarian.cli.evaluate_options import DataOption, ReportOption, check_reports, data_of, write_reports
from librarian.cli.opening import opened
from librarian.cli.options import JsonOption
from librarian.cli.runtime import print_json, run_async, say, settings_for
from librarian.contracts.evaluation_evidence import EvidenceEvalReport, EvidenceScores
from librarian.evidence_lab import evaluate, evaluate_pools
from librarian.settings import Settings
from librarian.usecases.evidence_cases import evidence_folders, need_store

_HEAD = ("system", "questions", "precision", "recall", "F1", "size / labelled", "searches")


def evidence(data: DataOption = None, report: ReportOption = None, *, as_json: JsonOption = False) -> None:
    """Ask the search agent labelled questions, and score the evidence that it selects.

    Conversations are stored in the graph and searched there; pools of documents need no graph.
    """

    async def work() -> None:
        check_reports(report or [])
        settings = settings_for()
        found = await _found(settings, evidence_folders(data_of(data, settings)))
        write_reports(report or [], found)
        if as_json:
            print_json(found)
        else:
            _show(found)

    run_async(work)


async def _found(settings: Settings, folders: Sequence[Path]) -> EvidenceEvalReport:
    if need_store(folders):
        async with opened(settings, "eval") as librarian:
            with Bar("Asking") as bar:
                return await evaluate(librarian, folders, on_progress=bar.update)
    with downloads() as progress, Bar("Asking") as bar:
        return await evaluate_pools(settings, folders, progress=progress, on_progress=bar.update)


def _show(report: EvidenceEvalReport) -> None:
    table(_HEAD, _rows("all", report), title="Evidence sets")
    for dataset in report.datasets:
        table(_HEAD, _rows(dataset, report), title=dataset)
    say(f"A step of the heuristic agent took {report.mean_step_ms} ms without the search tool's time.")
    for note in report.notes:
        say(note)


def _rows(dataset: str, report: EvidenceEvalReport) -> Iterator[tuple[str, ...]]:
    for name, system in report.systems.items():
        scores: EvidenceScores = system.datasets.get(dataset, system)
        figures = (scores.precision, scores.recall, scores.f1, scores.mean_set_ratio, scores.mean_searches)
        yield (name, str(scores.questions), *(f"{figure:.3f}" for figure in figures))
