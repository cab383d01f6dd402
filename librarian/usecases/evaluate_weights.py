"""Weights of linear fusion, tried on the conversation that they were not tuned on."""

from collections.abc import Callable, Mapping, Sequence

from graph.types import ItemFilter
from librarian.contracts.evaluation import FoldReport
from librarian.errors import InvalidInput
from librarian.usecases.evaluate_data import Dataset, Question
from retrieval.evaluation.tuning import Fold, Judged, leave_one_out
from retrieval.linear import default_weights
from retrieval.pipeline import SearchPipeline
from retrieval.types import ScoredItem, SearchRequest

SHOWN = ("recall@5", "recall@10", "ndcg@10")
_LIMIT = 20
_WHOLE_POOL = 300

OnProgress = Callable[[int, int], None]


async def weights_left_out(
    pipeline: SearchPipeline, dataset: Dataset, on_progress: OnProgress | None = None
) -> list[FoldReport]:
    """A fold for each conversation of `dataset`. Raises InvalidInput where there is but one.

    Every question is asked once: a hit tells the value of each of its signals, so other weights need no search.
    """
    answerable = [question for question in dataset.questions if question.relevant]
    weights = default_weights()
    judged = []
    for number, question in enumerate(answerable, start=1):
        request = SearchRequest(
            [question.text], ItemFilter(question.namespace), limit=_LIMIT, spare=_WHOLE_POOL, fusion_method="linear"
        )
        hits = (await pipeline.search(request)).hits
        judged.append(_judged(question, hits, dataset.id_field, list(weights)))
        if on_progress is not None:
            on_progress(number, len(answerable))
    try:
        return [_fold(fold) for fold in leave_one_out(judged, weights)]
    except ValueError as error:
        raise InvalidInput(f"{dataset.name}: {error}", field="--data") from None


def _judged(question: Question, hits: Sequence[ScoredItem], id_field: str, names: Sequence[str]) -> Judged:
    rows = {str(hit.item.properties.get(id_field)): _values(hit, names) for hit in reversed(hits)}
    return Judged.make(question.group, question.relevant, rows)


def _values(hit: ScoredItem, names: Sequence[str]) -> list[float]:
    values = {one.signal: one.value for one in hit.signals}
    return [values.get(name, 0.0) for name in names]


def _fold(fold: Fold) -> FoldReport:
    return FoldReport(
        left_out=fold.left_out,
        questions=fold.questions,
        as_is=_rounded(fold.as_is),
        tuned=_rounded(fold.tuned),
        weights=dict(fold.weights),
    )


def _rounded(metrics: Mapping[str, float]) -> dict[str, float]:
    return {name: round(metrics[name], 4) for name in SHOWN}
