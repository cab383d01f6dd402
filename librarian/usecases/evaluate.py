"""The regression lab: systems asked the same labelled questions, scored the same way, and compared."""

import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version

from librarian.contracts.evaluation import Comparison, DatasetReport, EvalReport, SystemReport
from librarian.errors import InvalidInput
from librarian.lifecycle import Parts
from librarian.usecases.evaluate_data import Dataset, Question, Row, read_datasets
from librarian.usecases.evaluate_systems import DEFAULT_SYSTEMS, System, Systems, checked_name, names_of
from retrieval.evaluation.bootstrap import Difference, paired_difference
from retrieval.evaluation.metrics import abstention_metrics, means, percentile, ranking_metrics

DEFAULT_LIMIT = 20
COMPARED = ("recall@1", "recall@5", "recall@10", "ndcg@10", "mrr", "abstention")
_MOST_NOTES = 5

OnProgress = Callable[[int, int], None]
Load = Callable[[Sequence[Row]], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What to evaluate: data sets (folders, or "sample"), systems by name, two of them to compare; `seed` draws the
    resamples and the questions asked elsewhere, `limit` is how many hits a system may return.
    """

    data: Sequence[str]
    systems: Sequence[str] = DEFAULT_SYSTEMS
    compare: tuple[str, str] | None = None
    seed: int = 0
    limit: int = DEFAULT_LIMIT

    def names(self) -> list[str]:
        """All systems that have to be asked. Raises InvalidInput for one that there is not."""
        compared = [checked_name(name) for name in self.compare or ()]
        return list(dict.fromkeys([*names_of(self.systems), *compared]))


@dataclass(slots=True)
class _Asked:
    """Answers of one system: metrics of each question, and seconds of each search."""

    metrics: list[Mapping[str, float]] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    notes: dict[str, None] = field(default_factory=dict)


async def evaluate(parts: Parts, wanted: Evaluation, load: Load, on_progress: OnProgress | None = None) -> EvalReport:
    """Load each data set by `load`, ask all of its questions of each system, and report.

    Interrupted, it begins anew, but finds its data loaded. Raises InvalidInput for data sets or systems that there are
    not. A default system that lacks what it needs is left out with a note.
    """
    names = wanted.names()
    datasets = read_datasets(wanted.data, seed=wanted.seed)
    progress = _Progress(on_progress, len(names) * sum(len(dataset.questions) for dataset in datasets))
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
        asked = {name: await _ask(system, dataset.questions, progress) for name, system in made.items()}
        report.datasets.append(_reported(dataset, asked, wanted))
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


async def _ask(system: System, questions: Sequence[Question], progress: "_Progress") -> _Asked:
    asked = _Asked()
    for question in questions:
        started = time.perf_counter()
        answered = await system.answer(question)
        asked.seconds.append(time.perf_counter() - started)
        asked.metrics.append(_metrics(question, answered.ranked))
        asked.notes.update(dict.fromkeys(answered.notes))
        progress.step()
    return asked


def _metrics(question: Question, ranked: Sequence[str]) -> Mapping[str, float]:
    return ranking_metrics(question.relevant, ranked) if question.relevant else abstention_metrics(ranked)


def _reported(dataset: Dataset, asked: Mapping[str, _Asked], wanted: Evaluation) -> DatasetReport:
    categories: dict[str, int] = {}
    for question in dataset.questions:
        categories[question.category] = categories.get(question.category, 0) + 1
    unanswerable = sum(not question.relevant for question in dataset.questions)
    sizes = dataset.sizes()
    return DatasetReport(
        dataset=dataset.name,
        unit=dataset.unit,
        corpora={"namespaces": len(sizes), "smallest": min(sizes.values()), "largest": max(sizes.values())},
        questions=len(dataset.questions) - unanswerable,
        unanswerable=unanswerable,
        categories=dict(sorted(categories.items())),
        systems=[_system(name, dataset.questions, own) for name, own in asked.items()],
        comparisons=list(_comparisons(dataset.questions, asked, wanted)),
    )


def _system(name: str, questions: Sequence[Question], asked: _Asked) -> SystemReport:
    by_category: dict[str, list[Mapping[str, float]]] = {}
    for question, metrics in zip(questions, asked.metrics, strict=True):
        by_category.setdefault(question.category, []).append(metrics)
    return SystemReport(
        system=name,
        overall=means(asked.metrics),
        by_category={category: means(own) for category, own in sorted(by_category.items())},
        latency_ms={f"p{round(share * 100)}": _ms(asked.seconds, share) for share in (0.5, 0.95)},
        notes=list(asked.notes)[:_MOST_NOTES],
    )


def _ms(seconds: Sequence[float], share: float) -> float:
    return round(percentile(seconds, share) * 1000, 1)


def _comparisons(
    questions: Sequence[Question], asked: Mapping[str, _Asked], wanted: Evaluation
) -> Iterator[Comparison]:
    """Each metric, by question, and by group where a group has several questions and is not alone."""
    if wanted.compare is None:
        return
    a, b = wanted.compare
    rows = list(zip(asked[a].metrics, asked[b].metrics, (question.group for question in questions), strict=True))
    for metric in COMPARED:
        pairs = [(one[metric], other[metric], group) for one, other, group in rows if metric in one]
        if not pairs:
            continue
        ours, theirs, groups = (list(column) for column in zip(*pairs, strict=True))
        by = {"question": None, "group": groups} if 1 < len(set(groups)) < len(groups) else {"question": None}
        for resampled, clusters in by.items():
            found = paired_difference(ours, theirs, clusters=clusters, seed=wanted.seed)
            yield _comparison(a, b, metric, resampled, found)


def _comparison(a: str, b: str, metric: str, resampled: str, found: Difference) -> Comparison:
    return Comparison(
        a=a,
        b=b,
        metric=metric,
        resampled=resampled,
        difference=round(found.mean, 4),
        low=round(found.low, 4),
        high=round(found.high, 4),
        b_ahead=round(found.better, 4),
    )


class _Progress:
    """Counts answers for a progress bar."""

    def __init__(self, tell: OnProgress | None, total: int) -> None:
        self._tell, self._total, self._done = tell, total, 0

    def step(self) -> None:
        """One more answer."""
        self._done += 1
        if self._tell is not None:
            self._tell(self._done, self._total)
