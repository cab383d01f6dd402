"""Cross-validates weights of linear fusion, leaving one conversation out."""

from collections.abc import Mapping

from graph.types import ItemFilter
from librarian.base.errors import InvalidInput
from librarian.evaluation.contracts import FoldReport
from librarian.evaluation.data import Dataset
from librarian.evaluation.measures import OnProgress
from retrieval.evaluation.tuning import Fold, Judged, leave_one_out
from retrieval.linear import default_weights
from retrieval.pipeline import SearchPipeline
from retrieval.types import SearchRequest

SHOWN = ("recall@5", "recall@10", "ndcg@10")
_LIMIT = 20
_WHOLE_POOL = 300


async def weights_left_out(
    pipeline: SearchPipeline, dataset: Dataset, on_progress: OnProgress | None = None
) -> list[FoldReport]:
    """Return a fold for each conversation of `dataset`. Raises InvalidInput if there is only one.

    Every question is searched once: hits carry the value of each signal, so other weights need no new search.
    """
    answerable = [question for question in dataset.questions if question.relevant]
    weights = default_weights()
    judged = []
    for number, question in enumerate(answerable, start=1):
        request = SearchRequest(
            [question.text],
            ItemFilter(question.namespace),
            limit=_LIMIT,
            spare=_WHOLE_POOL,
            fusion_method="linear",
            explain=True,
        )
        hits = (await pipeline.search(request)).hits
        rows = {}
        for hit in reversed(hits):  # the best hit of an id counts
            values = {signal.signal: signal.value for signal in hit.signals}
            rows[str(getattr(hit.item, dataset.id_field, None))] = [values.get(name, 0.0) for name in weights]
        judged.append(Judged.make(question.group, question.relevant, rows))
        if on_progress is not None:
            on_progress(number, len(answerable))
    try:
        return [_fold(fold) for fold in leave_one_out(judged, weights)]
    except ValueError as error:
        raise InvalidInput(f"{dataset.name}: {error}", field="--data") from None


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
