"""The regression lab: measures quality on labelled data and logged queries, on the graph of one Librarian.

Labelled data is stored in namespaces `eval:…` of that graph and stays there for later runs.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import msgspec

from librarian.app import Librarian
from librarian.base.errors import InvalidInput
from librarian.embeddings.room import OnProgress
from librarian.evaluation.compare_rankings import Ask, LoggedSearch, SearchLog, compare_rankings, read_log
from librarian.evaluation.context import evaluate_contexts
from librarian.evaluation.contracts import (
    DEFAULT_K,
    ContextEvalReport,
    EvalReport,
    ReplayReport,
    SpaceComparison,
    WeightsReport,
)
from librarian.evaluation.data import Row, read_datasets
from librarian.evaluation.retrieval import Evaluation, evaluate
from librarian.evaluation.systems import searched, variant_of
from librarian.evaluation.weights import weights_left_out
from librarian.runtime.lifecycle import Parts


class Lab:
    """Evaluations of one Librarian; `on_progress` gets (done, total) of the current step."""

    def __init__(self, librarian: Librarian) -> None:
        self._librarian = librarian

    async def retrieval(self, wanted: Evaluation, *, on_progress: OnProgress | None = None) -> EvalReport:
        """Return the quality of each system on labelled data. Raises InvalidInput for unknown data or systems."""
        load = partial(self.load, on_progress=on_progress)
        return await evaluate(self._librarian.parts, wanted, load, on_progress)

    async def contexts(
        self, data: Sequence[str], *, max_tokens: int, on_progress: OnProgress | None = None
    ) -> ContextEvalReport:
        """Return how much evidence for labelled questions their context packs hold. Raises InvalidInput."""
        datasets = read_datasets(data, seed=0)
        for dataset in datasets:
            await self.load(dataset.rows, on_progress=on_progress)
        return await evaluate_contexts(self._librarian, datasets, max_tokens=max_tokens, on_progress=on_progress)

    async def weights(self, data: Sequence[str], *, on_progress: OnProgress | None = None) -> WeightsReport:
        """Return the quality on each conversation of weights tuned on all others. Raises InvalidInput."""
        folds = {}
        for dataset in read_datasets(data, seed=0):
            await self.load(dataset.rows, on_progress=on_progress)
            folds[dataset.name] = await weights_left_out(self._librarian.parts.pipeline, dataset, on_progress)
        return WeightsReport(datasets=folds)

    async def replay(
        self, log: Path, a: str, b: str, *, k: int = DEFAULT_K, on_progress: OnProgress | None = None
    ) -> ReplayReport:
        """Repeat the searches of a log on the systems `a` and `b`, which are searches, not baselines.

        Raises InvalidInput for unknown systems, and for a log without searches.
        """
        ask_a, ask_b = (_asking(self._librarian.parts, system, k) for system in (a, b))
        return await compare_rankings(read_log(log), (a, ask_a), (b, ask_b), k=k, on_progress=on_progress)

    async def compare_spaces(
        self,
        other: Librarian,
        *,
        queries: Sequence[tuple[str, str]] = (),
        log: Path | None = None,
        data: Sequence[str] = (),
        k: int = DEFAULT_K,
        on_progress: OnProgress | None = None,
    ) -> SpaceComparison:
        """Compare searches in the spaces of this Librarian's encoder and of `other`'s, which is open on the same graph,
        whichever is active.

        `queries` (namespace and text) and those of a log measure their overlap; labelled `data` is stored, encoded for
        both, and scored. Raises InvalidInput.
        """
        both = (self._librarian, other)
        logged = read_log(log) if log else SearchLog([])
        named = [LoggedSearch(namespace, (text,)) for namespace, text in queries]
        searches = SearchLog([*named, *logged.searches], logged.skipped)
        a, b = ((_space(each), _asking(_searching(each), "hybrid", k)) for each in both)
        found = SpaceComparison(notes=[note for each in both for note in await _gaps(each)])
        if searches.searches:
            found.queries = await compare_rankings(searches, a, b, k=k, on_progress=on_progress)
        if data:
            wanted = Evaluation(data, ("vector", "hybrid"))
            for each in both:
                load = partial(self._load_for, each, on_progress=on_progress)
                found.labelled[_space(each)] = await evaluate(_searching(each), wanted, load, on_progress)
        return found

    async def _load_for(self, other: Librarian, rows: Sequence[Row], *, on_progress: OnProgress | None) -> None:
        """Store rows and encode them for both encoders' spaces."""
        await self.load(rows, on_progress=on_progress)
        await other.embeddings.build(on_progress=on_progress)

    async def load(self, rows: Sequence[Row], *, on_progress: OnProgress | None = None) -> None:
        """Store and encode rows, each with its namespace; existing ones cost little."""

        async def lines() -> AsyncIterator[tuple[int, bytes]]:
            for number, row in enumerate(rows, start=1):
                yield number, msgspec.json.encode(row)

        report = await self._librarian.ingest(lines(), namespace="eval", any_namespace=True)
        if report.failed:
            fault = report.errors[0]
            raise InvalidInput(
                f"{report.failed} rows of the data cannot be stored; row {fault.line}: {fault.message}", field="--data"
            )
        await self._librarian.embed_pending(on_progress=on_progress)


def _asking(parts: Parts, system: str, limit: int) -> Ask:
    variant = variant_of(system)

    async def ask(search: LoggedSearch) -> list[str]:
        hits, _ = await searched(parts.pipeline, parts.reranking, variant, search.namespace, search.queries, limit)
        return [hit.item.uid for hit in hits]

    return ask


def _searching(librarian: Librarian) -> Parts:
    """Return its parts, with a pipeline that searches its encoder's space even if another is active."""
    return replace(librarian.parts, pipeline=librarian.embeddings.pipeline())


async def _gaps(librarian: Librarian) -> list[str]:
    """Return a note if its encoder's space lacks vectors."""
    lacking = (await librarian.embeddings.lacking()).items
    return [f"{lacking} items have no vector in {_space(librarian)}; build it first"] if lacking else []


def _space(librarian: Librarian) -> str:
    space = librarian.parts.space
    return "none" if space is None else space.space
