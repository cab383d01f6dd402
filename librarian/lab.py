"""The regression lab: quality on labelled data and on logged queries, over the graph of one Librarian.

Labelled data goes into namespaces `eval:…` of that graph and stays there, so that a second run finds it loaded.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import msgspec

from librarian.contracts.evaluation import EvalReport, ReplayReport, WeightsReport
from librarian.contracts.spaces import SpaceComparison
from librarian.errors import InvalidInput
from librarian.lifecycle import Parts
from librarian.service import Counted, Librarian
from librarian.usecases.compare_rankings import DEFAULT_K, Ask, Asked, Log, compare_rankings, read_log
from librarian.usecases.evaluate import Evaluation, evaluate
from librarian.usecases.evaluate_data import Row, read_datasets
from librarian.usecases.evaluate_systems import searched, variant_of
from librarian.usecases.evaluate_weights import weights_left_out


class Lab:
    """Evaluations of what one Librarian finds; `on_progress` gets (done, all) of the step that runs."""

    def __init__(self, librarian: Librarian) -> None:
        self._librarian = librarian

    async def retrieval(self, wanted: Evaluation, *, on_progress: Counted | None = None) -> EvalReport:
        """Quality of each system on labelled data. Raises InvalidInput for data or systems that there are not."""
        load = partial(self.load, on_progress=on_progress)
        return await evaluate(self._librarian.parts, wanted, load, on_progress)

    async def weights(self, data: Sequence[str], *, on_progress: Counted | None = None) -> WeightsReport:
        """What weights tuned on all other conversations do on each one. Raises InvalidInput."""
        folds = {}
        for dataset in read_datasets(data, seed=0):
            await self.load(dataset.rows, on_progress=on_progress)
            folds[dataset.name] = await weights_left_out(self._librarian.parts.pipeline, dataset, on_progress)
        return WeightsReport(datasets=folds)

    async def replay(
        self, log: Path, a: str, b: str, *, k: int = DEFAULT_K, on_progress: Counted | None = None
    ) -> ReplayReport:
        """The searches of a log asked again of the systems `a` and `b`, which are searches, not baselines.

        Raises InvalidInput for systems that there are not, and for a log without such searches.
        """
        one, other = self._asking(a, k), self._asking(b, k)
        return await compare_rankings(read_log(log), (a, one), (b, other), k=k, on_progress=on_progress)

    async def compare_spaces(
        self,
        other: Librarian,
        *,
        queries: Sequence[tuple[str, str]] = (),
        log: Path | None = None,
        data: Sequence[str] = (),
        k: int = DEFAULT_K,
        on_progress: Counted | None = None,
    ) -> SpaceComparison:
        """The space of this Librarian's encoder and that of `other`'s, which is open on the same graph, searched side
        by side, whichever is the active one.

        `queries` (namespace and text) and those of a log show what the two share; labelled `data` is stored, encoded
        for both, and scored. Raises InvalidInput.
        """
        both = (self._librarian, other)
        logged = read_log(log) if log else Log([])
        given = Log([*(Asked(where, (text,)) for where, text in queries), *logged.searches], logged.skipped)
        (a, one), (b, another) = ((_space(each), _asking(_searching(each), "hybrid", k)) for each in both)
        found = SpaceComparison(notes=[note for each in both for note in await _gaps(each)])
        if given.searches:
            found.queries = await compare_rankings(given, (a, one), (b, another), k=k, on_progress=on_progress)
        if data:
            wanted = Evaluation(data, ("vector", "hybrid"))
            for each in both:
                load = partial(self._load_for, each, on_progress=on_progress)
                found.labelled[_space(each)] = await evaluate(_searching(each), wanted, load, on_progress)
        return found

    async def _load_for(self, other: Librarian, rows: Sequence[Row], *, on_progress: Counted | None) -> None:
        """Store rows and encode them for the space of `other`'s encoder too."""
        await self.load(rows, on_progress=on_progress)
        await other.embeddings.build(on_progress=on_progress)

    def _asking(self, system: str, limit: int) -> Ask:
        return _asking(self._librarian.parts, system, limit)

    async def load(self, rows: Sequence[Row], *, on_progress: Counted | None = None) -> None:
        """Store and encode rows, each of which names its namespace; what is there already costs little."""
        report = await self._librarian.ingest(_lines(rows), namespace="eval", any_namespace=True)
        if report.failed:
            fault = report.errors[0]
            raise InvalidInput(
                f"{report.failed} rows of the data cannot be stored; row {fault.line}: {fault.message}", field="--data"
            )
        await self._librarian.embed_pending(on_progress=on_progress)


def _asking(parts: Parts, system: str, limit: int) -> Ask:
    variant = variant_of(system)

    async def ask(asked: Asked) -> list[str]:
        namespace, queries = asked.namespace, asked.queries
        hits, _ = await searched(parts.pipeline, parts.reranking, variant, namespace, queries, limit)
        return [hit.item.uid for hit in hits]

    return ask


def _searching(librarian: Librarian) -> Parts:
    """Its parts, with a pipeline that searches its encoder's space also while another one is active."""
    return replace(librarian.parts, pipeline=librarian.embeddings.pipeline())


async def _gaps(librarian: Librarian) -> list[str]:
    """Whether its encoder's space can be compared at all."""
    lacking = (await librarian.embeddings.lacking()).items
    return [f"{lacking} items have no vector in {_space(librarian)}; build it first"] if lacking else []


def _space(librarian: Librarian) -> str:
    space = librarian.parts.space
    return "none" if space is None else space.space


async def _lines(rows: Sequence[Row]) -> AsyncIterator[tuple[int, bytes]]:
    for number, row in enumerate(rows, start=1):
        yield number, msgspec.json.encode(row)
