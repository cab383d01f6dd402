"""Runs systems on the same labelled questions, scores them the same way, and compares them."""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from itertools import count

from librarian.base.errors import InvalidInput
from librarian.evaluation.contracts import (
    DEFAULT_LIMIT,
    DEFAULT_SYSTEMS,
    Comparison,
    DatasetReport,
    EvalReport,
    SystemReport,
)
from librarian.evaluation.data import Dataset, Question, Row, read_datasets
from librarian.evaluation.measures import OnProgress, latency_ms, timed
from librarian.evaluation.systems import System, Systems, checked_name, names_of
from librarian.runtime.lifecycle import Parts
from retrieval.evaluation.bootstrap import paired_difference
from retrieval.evaluation.metrics import abstention_metrics, means, ranking_metrics

COMPARED = ("recall@1", "recall@5", "recall@10", "ndcg@10", "mrr", "abstention")
_MOST_NOTES = 5

Load = Callable[[Sequence[Row]], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The evaluation to run: data sets (folders, "sample"), systems by name, two of them to compare; `seed` draws the
    resamples and the questions asked elsewhere, `limit` is the maximum number of hits.
    """

    data: Sequence[str]
    systems: Sequence[str] = DEFAULT_SYSTEMS
    compare: tuple[str, str] | None = None
    seed: int = 0
    limit: int = DEFAULT_LIMIT

    def names(self) -> list[str]:
        """Return all systems to run. Raises InvalidInput for an unknown system."""
        compared = [checked_name(name) for name in self.compare or ()]
        return list(dict.fromkeys([*names_of(self.systems), *compared]))


@dataclass(slots=True)
class _SystemRun:
    """One system's metrics for each question, seconds of each search, and notes."""

    metrics: list[Mapping[str, float]] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    notes: dict[str, None] = field(default_factory=dict)


async def evaluate(parts: Parts, wanted: Evaluation, load: Load, on_progress: OnProgress | None = None) -> EvalReport:
    """Load each data set with `load`, run each system on all of its questions, and report.

    An interrupted run starts over, with its data already loaded. Raises InvalidInput for unknown data sets or systems.
    A default system that lacks a requirement is left out with a note.
    """
    names = wanted.names()
    datasets = read_datasets(wanted.data, seed=wanted.seed)
    total, answers = len(names) * sum(len(dataset.questions) for dataset in datasets), count(1)

    def on_answer() -> None:
        done = next(answers)
        if on_progress is not None:
            on_progress(done, total)

    report = EvalReport(
        version=version("librarian"),
        encoder="none" if parts.space is None else parts.space.space,
        reranker=parts.reranking.status,
        seed=wanted.seed,
        limit=wanted.limit,
        datasets=[],
    )
    systems = Systems(parts.pipeline, parts.reranking, parts.encoder, wanted.limit)
    for dataset in datasets:
        await load(dataset.rows)
        made, notes = _made(systems, names, dataset, optional=set(DEFAULT_SYSTEMS) - set(wanted.compare or ()))
        report.notes = list(dict.fromkeys([*report.notes, *notes]))
        runs = {name: await _ask(system, dataset.questions, on_answer) for name, system in made.items()}
        report.datasets.append(_reported(dataset, runs, wanted))
    return report


def _made(
    systems: Systems, names: Sequence[str], dataset: Dataset, *, optional: set[str]
) -> tuple[dict[str, System], list[str]]:
    made, notes = {}, []
    for name in names:
        try:
            made[name] = systems.make(name, dataset)
        except InvalidInput as error:
            if name not in optional:
                raise
            notes.append(f"{name} is left out: {error}")
    return made, notes


async def _ask(system: System, questions: Sequence[Question], on_answer: Callable[[], None]) -> _SystemRun:
    run = _SystemRun()
    for question in questions:
        answered, seconds = await timed(system.answer(question))
        ranked = answered.ranked
        run.seconds.append(seconds)
        run.metrics.append(
            ranking_metrics(question.relevant, ranked) if question.relevant else abstention_metrics(ranked)
        )
        run.notes.update(dict.fromkeys(answered.notes))
        on_answer()
    return run


def _reported(dataset: Dataset, runs: Mapping[str, _SystemRun], wanted: Evaluation) -> DatasetReport:
    categories = Counter(question.category for question in dataset.questions)
    unanswerable = sum(not question.relevant for question in dataset.questions)
    sizes = dataset.sizes()
    return DatasetReport(
        dataset=dataset.name,
        unit=dataset.unit,
        corpora={"namespaces": len(sizes), "smallest": min(sizes.values()), "largest": max(sizes.values())},
        questions=len(dataset.questions) - unanswerable,
        unanswerable=unanswerable,
        categories=dict(sorted(categories.items())),
        systems=[_system(name, dataset.questions, run) for name, run in runs.items()],
        comparisons=list(_comparisons(dataset.questions, runs, wanted)),
    )


def _system(name: str, questions: Sequence[Question], run: _SystemRun) -> SystemReport:
    by_category: dict[str, list[Mapping[str, float]]] = {}
    for question, metrics in zip(questions, run.metrics, strict=True):
        by_category.setdefault(question.category, []).append(metrics)
    return SystemReport(
        system=name,
        overall=means(run.metrics),
        by_category={category: means(own) for category, own in sorted(by_category.items())},
        latency_ms=latency_ms(run.seconds),
        notes=list(run.notes)[:_MOST_NOTES],
    )


def _comparisons(
    questions: Sequence[Question], runs: Mapping[str, _SystemRun], wanted: Evaluation
) -> Iterator[Comparison]:
    """Yield a comparison of each metric, by question, and by group where several groups have several questions."""
    if wanted.compare is None:
        return
    a, b = wanted.compare
    rows = list(zip(runs[a].metrics, runs[b].metrics, (question.group for question in questions), strict=True))
    for metric in COMPARED:
        pairs = [(of_a[metric], of_b[metric], group) for of_a, of_b, group in rows if metric in of_a]
        if not pairs:
            continue
        values_a, values_b, groups = (list(column) for column in zip(*pairs, strict=True))
        by = {"question": None, "group": groups} if 1 < len(set(groups)) < len(groups) else {"question": None}
        for resampled, clusters in by.items():
            found = paired_difference(values_a, values_b, clusters=clusters, seed=wanted.seed)
            yield Comparison(
                a=a,
                b=b,
                metric=metric,
                resampled=resampled,
                difference=round(found.mean, 4),
                low=round(found.low, 4),
                high=round(found.high, 4),
                b_ahead=round(found.better, 4),
            )
