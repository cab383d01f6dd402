"""`librarian eval`: quality on labelled data."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias, TypeVar

import msgspec
import typer

from librarian.base.errors import InvalidInput
from librarian.cli.display import Bar, downloads, table
from librarian.cli.lazy import deferred, new_app
from librarian.cli.opening import opened
from librarian.cli.options import JsonOption
from librarian.cli.runtime import print_answer, run_async, say, settings_for
from librarian.evaluation.contracts import (
    DEFAULT_K,
    DEFAULT_LIMIT,
    DEFAULT_SYSTEMS,
    CausalEvalReport,
    ContextEvalReport,
    EdgeScores,
    EvalReport,
    EvidenceEvalReport,
    EvidenceScores,
    FilesEvalReport,
    FindScores,
    ReplayReport,
    TypesEvalReport,
    WeightsReport,
)
from librarian.search.contracts import DEFAULT_CONTEXT_TOKENS

if TYPE_CHECKING:
    from librarian.base.settings.settings import Settings
    from librarian.evaluation import causal as causal_edges
    from librarian.evaluation import evidence as evidence_sets
    from librarian.evaluation import files as file_searches
    from librarian.evaluation import lab
    from librarian.evaluation import report as reports
    from librarian.evaluation import retrieval as questions
    from librarian.evaluation import types as memory_types
    from librarian.evaluation import weights as tuning
    from librarian.runtime import assembly
else:
    assembly = deferred("librarian.runtime.assembly")
    causal_edges, evidence_sets, file_searches, lab, memory_types, questions, reports, tuning = (
        deferred(f"librarian.evaluation.{name}")
        for name in (
            "causal",
            "evidence",
            "files",
            "lab",
            "types",
            "retrieval",
            "report",
            "weights",
        )
    )

R = TypeVar("R", bound=msgspec.Struct)

app = new_app()
evaluate = new_app("Measure quality on labelled data.")
app.add_typer(evaluate, name="eval")

DataOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--data",
        metavar="FOLDER",
        help='Folder of labelled data, or "sample"; may be repeated. Default: LIBRARIAN_EVAL_DATA.',
    ),
]
SeedOption: TypeAlias = Annotated[int, typer.Option("--seed", min=0, help="The same seed draws the same samples.")]
ReportOption: TypeAlias = Annotated[
    list[Path] | None,
    typer.Option("--report", metavar="FILE", help="Write a report in the format of its ending; may be repeated."),
]


def _data_of(option: Sequence[str] | None, settings: "Settings") -> list[str]:
    """Return the named data sets, else the configured folder. Raises InvalidInput."""
    if option:
        return list(option)
    if settings.eval_data is None:
        raise InvalidInput(
            "no data is named", field="--data", remedy="Give --data FOLDER or sample, or set LIBRARIAN_EVAL_DATA."
        )
    return [str(settings.eval_data)]


def _check_reports(files: Sequence[Path], *endings: str) -> None:
    """Refuse an unsuitable report file before the work begins. Raises InvalidInput."""
    allowed = (".json", *endings)
    for file in files:
        if file.suffix not in allowed:
            raise InvalidInput(f"{file} does not end in {' or '.join(allowed)}", field="--report")
        if not file.absolute().parent.is_dir():
            raise InvalidInput(f"there is no folder {file.parent}", field="--report")


def _write_reports(files: Sequence[Path], report: R, **forms: Callable[[R], str]) -> None:
    """Write `report` to each of `files`: as JSON, or in the format that `forms` has for its ending."""
    for file in files:
        file.write_text(forms.get(file.suffix.removeprefix("."), _as_json)(report), encoding="utf-8")
        say(f"Wrote {file}.")


def _as_json(report: msgspec.Struct) -> str:
    return msgspec.json.format(msgspec.json.encode(report), indent=2).decode() + "\n"


def _file_of(option: Path | None, file: Path) -> Path:
    """Return the named labelled file, or `file` in the named or configured folder."""
    if option is not None:
        return option / file.name if option.is_dir() else option
    folder = settings_for().eval_data
    if folder is None:
        raise InvalidInput("no data is named", field="--data", remedy="Give --data FILE or set LIBRARIAN_EVAL_DATA.")
    return folder / file


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


@evaluate.command()
def retrieval(
    data: DataOption = None,
    system: Annotated[
        list[str] | None,
        typer.Option(help=f"NAME,option=value,…; may be repeated. Default: {' '.join(DEFAULT_SYSTEMS)}."),
    ] = None,
    compare: Annotated[
        tuple[str, str] | None, typer.Option(metavar="A B", help="Two systems to compare question by question.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=50, help="Maximum number of hits of a system.")] = DEFAULT_LIMIT,
    seed: SeedOption = 0,
    report: ReportOption = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Run each system on the questions of labelled data, and score its hits."""

    async def work() -> None:
        _check_reports(report or [], ".md")
        settings = settings_for()
        names = tuple(system or DEFAULT_SYSTEMS)
        wanted = questions.Evaluation(_data_of(data, settings), names, compare, seed=seed, limit=limit)
        wanted.names()  # a misspelt name is reported before anything starts
        async with opened(settings, "eval") as librarian:
            with Bar("Evaluating") as bar:
                found = await lab.Lab(librarian).retrieval(wanted, on_progress=bar.update)
        _write_reports(report or [], found, md=reports.markdown)
        print_answer(found, _show_retrieval, as_json=as_json)

    run_async(work)


def _show_retrieval(report: EvalReport) -> None:
    for dataset in report.datasets:
        for title, (head, rows) in reports.tables(dataset):
            table(head, rows, title=f"{dataset.dataset}: {title}")
        for system in dataset.systems:
            for note in system.notes:
                say(f"{dataset.dataset}, {system.system}: {note}")
    for note in report.notes:
        say(note)


@evaluate.command()
def replay(
    log: Annotated[Path, typer.Argument(metavar="LOG", help="A JSON log of the service.")],
    a: Annotated[str, typer.Argument(metavar="A", help="A search: hybrid, vector or keyword, with options.")],
    b: Annotated[str, typer.Argument(metavar="B", help="Another one.")],
    k: Annotated[int, typer.Option("--limit", "-k", min=1, max=50, help="Number of hits to compare.")] = DEFAULT_K,
    report: ReportOption = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Repeat the searches of a log on two systems, and compare their hits."""

    async def work() -> None:
        _check_reports(report or [])
        async with opened(settings_for(), "eval") as librarian:
            with Bar("Asking") as bar:
                found = await lab.Lab(librarian).replay(log, a, b, k=k, on_progress=bar.update)
        _write_reports(report or [], found)
        print_answer(found, show_replay, as_json=as_json)

    run_async(work)


def show_replay(report: ReplayReport) -> None:
    """Print the overlap of the two, and the queries that differ most."""
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
        changed = [
            (query.query, f"{query.overlap:.2f}", len(query.only_a), len(query.only_b)) for query in report.changed
        ]
        table(("query", "overlap", "only a", "only b"), changed, title="Most different")
    if report.skipped:
        say(f"{report.skipped} searches were logged as hashes and cannot be repeated.")


@evaluate.command()
def weights(data: DataOption = None, report: ReportOption = None, *, as_json: JsonOption = False) -> None:
    """Tune the weights of signals on all conversations except one, and test them on that one, each in turn."""

    async def work() -> None:
        _check_reports(report or [])
        settings = settings_for()
        named = _data_of(data, settings)
        async with opened(settings, "eval") as librarian:
            with Bar("Asking") as bar:
                found = await lab.Lab(librarian).weights(named, on_progress=bar.update)
        _write_reports(report or [], found)
        print_answer(found, _show_weights, as_json=as_json)

    run_async(work)


def _show_weights(report: WeightsReport) -> None:
    for name, folds in report.datasets.items():
        head = (
            "left out",
            "questions",
            *(f"{metric} {kind}" for metric in tuning.SHOWN for kind in ("as is", "tuned")),
        )
        rows = [
            (
                fold.left_out,
                fold.questions,
                *(f"{own[metric]:.3f}" for metric in tuning.SHOWN for own in (fold.as_is, fold.tuned)),
            )
            for fold in folds
        ]
        table(head, rows, title=name)
        signals = list(folds[0].weights)
        table(
            ("left out", *signals), [(fold.left_out, *fold.weights.values()) for fold in folds], title="Tuned weights"
        )


_WORLDS = Path("sweep_worlds")
_CAUSAL_HEAD = ("", "edges", "claimed", "right", "precision", "recall", "false alarms")


@evaluate.command()
def causal(
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help=f"Folder of worlds, or file of labelled pairs. Default: {_WORLDS} in LIBRARIAN_EVAL_DATA.",
        ),
    ] = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Find causal edges in labelled texts, as a sweep does in memories, and score them. Needs no database."""

    async def work() -> None:
        report = causal_edges.evaluate_causal(data or _file_of(None, _WORLDS))
        print_answer(report, _show_causal, as_json=as_json)

    run_async(work)


def _show_causal(report: CausalEvalReport) -> None:
    table(_CAUSAL_HEAD, _causal_rows(report), title=f"{report.file}: {report.pairs} pairs")


def _causal_rows(report: CausalEvalReport) -> Iterator[tuple[str, ...]]:
    yield _causal_row("typed edges", report.typed)
    yield _causal_row("accepted", report.accepted)
    for name, scores in report.relations.items():
        yield _causal_row(name, scores)
    for name, kind in report.pair_kinds.items():
        yield _causal_row(name, kind, f"{kind.false_alarms} of {kind.pairs_without}")


def _causal_row(name: str, scores: EdgeScores, alarms: str = "") -> tuple[str, ...]:
    shares = (_share(scores.precision), _share(scores.recall))
    return name, str(scores.edges), str(scores.claimed), str(scores.right), *shares, alarms


@evaluate.command()
def context(
    data: DataOption = None,
    max_tokens: Annotated[
        int, typer.Option(min=100, max=100_000, help="Maximum number of tokens of a context pack.")
    ] = DEFAULT_CONTEXT_TOKENS,
    report: ReportOption = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Get the context packs of labelled questions, and score how much of the evidence they hold."""

    async def work() -> None:
        _check_reports(report or [])
        settings = settings_for()
        named = _data_of(data, settings)
        async with opened(settings, "eval") as librarian:
            with Bar("Asking") as bar:
                found = await lab.Lab(librarian).contexts(named, max_tokens=max_tokens, on_progress=bar.update)
        _write_reports(report or [], found)
        print_answer(found, _show_contexts, as_json=as_json)

    run_async(work)


def _show_contexts(report: ContextEvalReport) -> None:
    head = ("data", "questions", "held", "all of it", "tokens, mean", "most", "supported", "unanswerable", "supported")
    rows = [
        (name, scores.questions, _share(scores.held), _share(scores.whole), round(scores.mean_tokens),
         scores.most_tokens, _share(scores.supported), scores.unanswerable, _share(scores.unanswerable_supported))
        for name, scores in report.datasets.items()
    ]  # fmt: skip
    table(head, rows, title=f"Context packs of at most {report.max_tokens} tokens")


_EVIDENCE_HEAD = ("system", "questions", "precision", "recall", "F1", "size / labelled", "searches")


@evaluate.command()
def evidence(data: DataOption = None, report: ReportOption = None, *, as_json: JsonOption = False) -> None:
    """Run the search agent on labelled questions, and score the selected evidence.

    Conversations are stored in the graph and searched there; pools of documents need no graph.
    """

    async def work() -> None:
        _check_reports(report or [])
        settings = settings_for()
        found = await _evaluated(settings, evidence_sets.evidence_folders(_data_of(data, settings)))
        _write_reports(report or [], found)
        print_answer(found, _show_evidence, as_json=as_json)

    run_async(work)


async def _evaluated(settings: "Settings", folders: Sequence[Path]) -> EvidenceEvalReport:
    if evidence_sets.need_store(folders):
        async with opened(settings, "eval") as librarian:
            with Bar("Asking") as bar:
                return await evidence_sets.evaluate_with_graph(librarian, folders, on_progress=bar.update)
    with downloads() as progress, Bar("Asking") as bar:
        return await evidence_sets.evaluate_pools(settings, folders, progress=progress, on_progress=bar.update)


def _show_evidence(report: EvidenceEvalReport) -> None:
    table(_EVIDENCE_HEAD, _evidence_rows("all", report), title="Evidence sets")
    for dataset in report.datasets:
        table(_EVIDENCE_HEAD, _evidence_rows(dataset, report), title=dataset)
    say(f"A step of the heuristic agent took {report.mean_step_ms} ms without the search tool's time.")
    for note in report.notes:
        say(note)


def _evidence_rows(dataset: str, report: EvidenceEvalReport) -> Iterator[tuple[str, ...]]:
    for name, system in report.systems.items():
        scores: EvidenceScores = system.datasets.get(dataset, system)
        figures = (scores.precision, scores.recall, scores.f1, scores.mean_set_ratio, scores.mean_searches)
        yield (name, str(scores.questions), *(f"{figure:.3f}" for figure in figures))


_TYPES_FILE = Path("memory_types") / "memories.jsonl"
_SHORT_CHARS = 4


@evaluate.command()
def types(
    data: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help=f"Labelled texts. Default: {_TYPES_FILE} in LIBRARIAN_EVAL_DATA."),
    ] = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Classify labelled memories, and score the types. Needs no database."""

    async def work() -> None:
        file = _file_of(data, _TYPES_FILE)
        async with assembly.open_encoder(settings_for()) as encoder:
            report = await memory_types.evaluate_types(file, encoder)
        print_answer(report, _show_types, as_json=as_json)

    run_async(work)


def _show_types(report: TypesEvalReport) -> None:
    head = ("type", "texts", "precision", "recall", "F1")
    table(head, _type_rows(report), title=f"{report.file}: {report.texts} texts, macro-F1 {report.macro_f1:.3f}")
    table(("label", *(name[:_SHORT_CHARS] for name in report.confusion)), _confusion_rows(report), title="Told types")
    say(
        f"Written without asking: {report.auto_applied} ({report.coverage:.0%}), of which "
        f"{_share(report.auto_applied_precision)} right. Space: {report.space or 'words alone'}."
    )


def _type_rows(report: TypesEvalReport) -> Iterator[tuple[str, ...]]:
    for name, scores in report.types.items():
        yield name, str(scores.labelled), _share(scores.precision), _share(scores.recall), f"{scores.f1:.3f}"


def _confusion_rows(report: TypesEvalReport) -> Iterator[tuple[str, ...]]:
    for name, counts in report.confusion.items():
        yield name, *(str(count) for count in counts.values())


_FILE_LABELS = "code_search"
_FILES_NAMESPACE = "eval:files"


@evaluate.command()
def files(
    root: Annotated[Path, typer.Option("--root", metavar="DIR", help="A source tree.")],
    queries: Annotated[int, typer.Option(min=1, max=10_000, help="Number of texts to search for.")] = 300,
    seed: SeedOption = 0,
    namespace: Annotated[
        str, typer.Option("--namespace", "-n", help="Namespace in which the tree is indexed, and stays.")
    ] = _FILES_NAMESPACE,
    questions: Annotated[
        Path | None, typer.Option("--questions", metavar="FILE", help="Rows {query, expected} for locate.")
    ] = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Compare text search with ripgrep on a source tree, and find its files by name.

    Labelled queries of LIBRARIAN_EVAL_DATA count if their files are in the tree.
    """

    async def work() -> None:
        settings = settings_for()
        labels = None if settings.eval_data is None else settings.eval_data / _FILE_LABELS
        wanted = file_searches.FilesEvaluation(root, namespace, queries, seed, labels, questions)
        async with opened(settings, "eval") as librarian:
            with Bar("Evaluating") as bar:
                report = await file_searches.evaluate_files(librarian.files, wanted, bar.update)
        print_answer(report, _show_files, as_json=as_json)

    run_async(work)


def _show_files(report: FilesEvalReport) -> None:
    ours = ("search_text", f"{report.p50_ms:.1f}", f"{report.p95_ms:.1f}")
    theirs = ("rg -n -F", f"{report.ripgrep_p50_ms:.1f}", f"{report.ripgrep_p95_ms:.1f}")
    table(("", "p50 ms", "p95 ms"), (ours, theirs), title=f"{report.queries} texts in {report.files} files")
    say(f"Equal lines: {report.equal_share:.1%}. Faster than ripgrep by {report.speedup_vs_ripgrep:.1f} (median).")
    rows = [_find_row(name, scores) for name, scores in report.find.items()]
    if report.definitions:
        rows.append(_find_row("definitions", report.definitions))
    table(("find_file by", "queries", "first is right", "p50 ms", "p95 ms"), rows)
    if report.questions:
        asked = report.questions
        say(f"{asked.questions} questions: a right file first {asked.top1:.3f}, among three {asked.top3:.3f}.")
        for query in asked.missed:
            say(f"not among three: {query}")
    if report.mb_per_s is not None:
        say(f"Indexed in {report.index_s:.1f} s, {report.mb_per_s:.1f} MB/s.")
    for query in report.different:
        say(f"other lines than ripgrep: {query!r}")
    for note in report.notes:
        say(note)


def _find_row(name: str, scores: FindScores) -> tuple[str, ...]:
    return name, str(scores.queries), f"{scores.top1:.3f}", f"{scores.p50_ms:.1f}", f"{scores.p95_ms:.1f}"
