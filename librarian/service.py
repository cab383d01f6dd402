"""`Librarian`: the facade that HTTP, MCP, the command line and Python programs use."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterable, AsyncIterator, Callable
from importlib.resources import files
from pathlib import Path

import structlog

from graph.errors import GraphError
from graph.lookup import get_object
from graph.models import Item
from graph.spaces import activate, compact, count_pending, count_vectors, index_state, list_spaces
from librarian import metrics
from librarian.contracts.items import IngestReport, ItemOut
from librarian.contracts.search import SearchInput, SearchOutput
from librarian.contracts.service import EvalReport, Readiness, SpaceStatus
from librarian.errors import InvalidInput, NotFound
from librarian.lifecycle import Lifecycle, Parts
from librarian.rowmap import RowMap
from librarian.settings import Settings
from librarian.usecases import evaluate as evaluation
from librarian.usecases import items as item_cases
from librarian.usecases import search as searching
from librarian.usecases.embed import embed_pending, fill_space
from librarian.usecases.ingest import Ingest
from retrieval.encoders.errors import EncoderError

SAMPLE_NAMESPACE = "sample"
SAMPLE_FILES = ("messages", "facts", "memories", "edges")
_WORKER_POLL_S = 2.0
_WORKER_REST_S = 5.0
_READINESS_TIMEOUT_S = 2.0

log = structlog.get_logger("librarian.service")
Counted = Callable[[int, int], None]


class Librarian:
    """One agent memory. Made by `librarian.wiring.open_librarian`; all methods are safe for concurrent tasks.

    Methods raise NotReady until the graph can be used, and the reason itself once it is known that it never will.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.lifecycle = Lifecycle()
        self._new_items = asyncio.Event()

    async def ready(self) -> None:
        """Wait until the graph can be used. Raises the reason when it never will."""
        await self.lifecycle.ready()

    async def readiness(self) -> Readiness:
        """Whether requests can be served now, and each check's result; never raises."""
        return await self.lifecycle.readiness()

    @property
    def parts(self) -> Parts:
        """What this Librarian works with. Raises NotReady, or the reason why it never will be."""
        return self.lifecycle.parts

    # Items and search.

    async def ingest(
        self,
        lines: AsyncIterable[tuple[int, bytes]],
        *,
        namespace: str,
        mapping: RowMap | None = None,
        any_namespace: bool = False,
        after_line: int = 0,
        on_progress: Callable[[IngestReport], None] | None = None,
    ) -> IngestReport:
        """Store rows given as (line number from 1, JSON); what `on_progress` reports is stored already.

        `any_namespace` lets rows name namespaces other than `namespace`. Rows up to `after_line` count as
        settled by an earlier run over the same lines.
        """
        run = Ingest(
            self.parts.executor,
            namespace=namespace,
            mapping=mapping,
            any_namespace=any_namespace,
            after_line=after_line,
        )
        report = await run.run(lines, on_progress)
        self._new_items.set()
        report.pending_embeddings = await count_pending(self.parts.executor)
        metrics.count_rows(report)
        metrics.set_pending_embeddings(report.pending_embeddings)
        return report

    async def search(self, namespace: str, query: SearchInput) -> SearchOutput:
        """Hits of `namespace`, best first; a broken arm is reported in `arms`, not raised."""
        started = time.perf_counter()
        answer = await searching.search(self.parts.pipeline, namespace, query)
        metrics.observe_stage("search", time.perf_counter() - started)
        return answer

    async def get_item(self, namespace: str, uid: str) -> ItemOut:
        """One item of `namespace`. Raises NotFound."""
        return await item_cases.get_item(self.parts.executor, namespace, uid)

    async def get_object(self, namespace: str, uid: str) -> Item:
        """One item of `namespace` as its read-only neomodel class, for Python programs. Raises NotFound."""
        found = await get_object(self.parts.executor, namespace, uid)
        if found is None:
            raise NotFound(f"no item has this uid in namespace {namespace!r}", field="uid")
        return found

    async def load_sample(self) -> IngestReport:
        """Put the sample data into namespace `sample`; a second time changes nothing."""
        return await self.ingest(_sample_lines(), namespace=SAMPLE_NAMESPACE)

    # Embeddings.

    async def work(self) -> None:
        """Encode pending items as they come, until cancelled. Faults are logged and tried again."""
        await self._warm_up()
        while True:
            self._new_items.clear()
            try:
                await self.embed_pending()
            except (GraphError, EncoderError) as error:
                log.warning("encoding paused", reason=str(error))
                await asyncio.sleep(_WORKER_REST_S)
                continue
            try:
                async with asyncio.timeout(_WORKER_POLL_S):
                    await self._new_items.wait()
            except TimeoutError:
                continue  # another process may have added items

    async def _warm_up(self) -> None:
        """Search once: the server plans a statement when it first sees it, which takes seconds, and no user's."""
        with contextlib.suppress(GraphError):  # a database that has just gone is no reason to end the worker
            await self.search(SAMPLE_NAMESPACE, SearchInput(queries=["warm up"]))

    async def embed_pending(self, *, on_progress: Counted | None = None) -> int:
        """Encode every item that lacks a vector in the active space; 0 when this Librarian's encoder is not its one."""
        parts = self.parts
        if parts.encoder is None or parts.space is None or not parts.space.active:
            return 0
        done = await embed_pending(parts.executor, parts.space, parts.encoder, on_progress)
        if done:
            metrics.set_pending_embeddings(await count_pending(parts.executor))
        return done

    async def pending_embeddings(self) -> int:
        """Items of all namespaces that lack a vector in the active space."""
        return await count_pending(self.parts.executor)

    async def embeddings_status(self) -> list[SpaceStatus]:
        """Every embedding space of the graph."""
        executor = self.parts.executor
        pending = await count_pending(executor)
        return [
            SpaceStatus(
                space=space.space,
                model=space.model,
                dimension=space.dimension,
                active=space.active,
                index_state=await index_state(executor, space.space),
                vectors=await count_vectors(executor, space.space),
                pending_items=pending if space.active else 0,
            )
            for space in await list_spaces(executor)
        ]

    async def switch_embeddings(self, *, on_progress: Counted | None = None) -> int:
        """Fill the configured encoder's space beside the active one, then make it active in one step.

        Returns how many items were encoded. Restart running services with the same LIBRARIAN_ENCODER afterwards.
        """
        parts = self.parts
        if parts.encoder is None or parts.space is None:
            raise InvalidInput(
                "no encoder is configured", field="LIBRARIAN_ENCODER", remedy="name the encoder to switch to"
            )
        done = await fill_space(parts.executor, parts.space, parts.encoder, on_progress)
        await activate(parts.executor, parts.space.space)
        return done

    async def compact_embeddings(self) -> None:
        """Build the active space's vector index anew, which makes one grown by many small commits fast again."""
        executor = self.parts.executor
        for space in await list_spaces(executor):
            if space.active:
                await compact(executor, space.space, space.dimension)

    # Evaluation.

    async def evaluate_retrieval(self, folder: Path, *, on_progress: Counted | None = None) -> EvalReport:
        """Recall, MRR and nDCG of each system on a folder of labelled data, loaded into namespaces `eval:…`."""
        dataset = evaluation.read_dataset(folder)
        report = await self.ingest(
            file_lines(dataset.documents), namespace="eval", mapping=dataset.mapping, any_namespace=True
        )
        if report.failed:
            raise InvalidInput(f"{report.failed} rows of {dataset.documents} cannot be read", field="--data")
        await self.embed_pending(on_progress=on_progress)
        return await evaluation.evaluate(self.parts.pipeline, dataset, on_progress)


async def file_lines(path: Path) -> AsyncIterator[tuple[int, bytes]]:
    """Numbered lines of a file, read as they are needed."""
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            yield number, line


async def _sample_lines() -> AsyncIterator[tuple[int, bytes]]:
    number = 0
    for name in SAMPLE_FILES:
        text = files("librarian").joinpath("sample", f"{name}.jsonl").read_bytes()
        for line in text.splitlines():
            number += 1
            yield number, line
