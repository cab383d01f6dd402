"""`Librarian`: the facade that HTTP, MCP, the command line and Python programs use."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Callable, Mapping
from functools import partial
from importlib.resources import files
from typing import Any

import structlog

from agents.label import LabelModel
from graph.errors import GraphError
from graph.lookup import get_object
from graph.models import Item
from graph.spaces import count_pending
from graph.types import ItemFilter
from librarian import metrics
from librarian.audit import actor, audit
from librarian.backups import Backups, overdue
from librarian.causal_verbs import CausalVerbs
from librarian.contracts.answer import AnswerEvent, AnswerInput, AnswerOutput
from librarian.contracts.changes import (
    Correction,
    CorrectOutput,
    DeleteCounts,
    DeleteInput,
    DeleteOutput,
    PutOutput,
    RememberInput,
    RevisionList,
)
from librarian.contracts.edges import EdgeList, EdgeOut, EdgeQuery, LinkOutput, UnlinkInput
from librarian.contracts.items import IngestReport, ItemIn, ItemOut, LinkInput
from librarian.contracts.listing import ItemList, ItemQuery
from librarian.contracts.namespaces import NamespaceList
from librarian.contracts.relevant import DEFAULT_MAX_HITS, MemoryHit, RelevantInput, RelevantOutput
from librarian.contracts.search import SearchInput, SearchOutput
from librarian.contracts.search_agent import Detail, SearchAgentEvent, SearchAgentInput, SearchAgentOutput
from librarian.contracts.service import CalibrationOut, Readiness
from librarian.contracts.why_not import WhyNotInput, WhyNotOutput
from librarian.embeddings import Embeddings
from librarian.errors import InvalidInput, NotFound
from librarian.file_verbs import FileVerbs
from librarian.lifecycle import Lifecycle, Parts
from librarian.professor.search import UNKNOWN, Origin, Professor
from librarian.reasoning import Meaning
from librarian.review_verbs import ReviewVerbs
from librarian.rowmap import RowMap
from librarian.searches import Searches
from librarian.settings import Settings
from librarian.strictjson import convert
from librarian.sweeps import Sweeps
from librarian.transfers import Transfers
from librarian.usecases import answer as answering
from librarian.usecases import change_items as changing
from librarian.usecases import delete_items as deleting
from librarian.usecases import edges as edge_cases
from librarian.usecases import items as item_cases
from librarian.usecases import namespaces as namespace_cases
from librarian.usecases import search_agent as agent_cases
from librarian.usecases.calibrate import calibrate, calibrations_out
from librarian.usecases.embed import embed_pending
from librarian.usecases.ingest import Ingest
from librarian.usecases.relevant_memory import get_relevant_memory
from librarian.usecases.search_with_files import search_with_files
from librarian.usecases.why_not import why_not
from retrieval.encoders.errors import EncoderError
from retrieval.types import SearchRequest

SAMPLE_NAMESPACE = "sample"
SAMPLE_FILES = ("messages", "facts", "memories", "edges")
_WORKER_POLL_S = 2.0
_WORKER_REST_S = 5.0
_READINESS_TIMEOUT_S = 2.0

log = structlog.get_logger("librarian.service")
Counted = Callable[[int, int], None]


class Librarian(Searches, FileVerbs, CausalVerbs, ReviewVerbs, Sweeps, Transfers, Backups):
    """One agent memory. Made by `librarian.wiring.open_librarian`; all methods are safe for concurrent tasks.

    Methods raise NotReady while the graph cannot be used, now or any more, and the defect itself once one has ended the
    background work.
    """

    def __init__(
        self, settings: Settings, chat_model: LabelModel | None = None, professor: Professor | None = None
    ) -> None:
        self.settings = settings
        self.label_model = chat_model
        llm = settings.llm
        self._chat = answering.Chat(chat_model, llm.context_chars, llm.timeout_s) if chat_model else None
        self.lifecycle = Lifecycle()
        self.embeddings = Embeddings(self.lifecycle)
        self._agent = agent_cases.Agent.make(settings, professor, chat_model, Meaning(self.lifecycle))
        self._new_items = asyncio.Event()

    async def ready(self) -> None:
        """Wait until the graph can be used, however long that takes. Raises a defect that has ended the waiting."""
        await self.lifecycle.ready()

    async def readiness(self) -> Readiness:
        """Whether requests can be served now, and each check's result; never raises."""
        readiness = await self.lifecycle.readiness()
        if self.settings.backup.every_s:
            readiness.checks["backup"] = await asyncio.to_thread(overdue, self.settings.backup) or "ok"
        return readiness

    @property
    def parts(self) -> Parts:
        """What this Librarian works with. Raises NotReady with the reason, or a defect that nobody mends."""
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
            max_text_chars=self.settings.max_text_chars,
        )
        report = await run.run(lines, on_progress)
        audit("ingest", namespace, added=report.added, updated=report.updated, failed=report.failed)
        self._new_items.set()
        report.pending_embeddings = await count_pending(self.parts.executor)
        metrics.count_rows(report)
        metrics.set_pending_embeddings(report.pending_embeddings)
        return report

    async def why_not(self, namespace: str, asked: WhyNotInput) -> WhyNotOutput:
        """What became of one item in a search of `namespace`. Raises NotFound."""
        parts = self.parts
        return await why_not(parts.executor, parts.pipeline, parts.reranking, namespace, asked, self.settings.search)

    async def get_relevant_memory(
        self, project_id: str, query: str, max_hits: int = DEFAULT_MAX_HITS, *, answer_over_question: bool = True
    ) -> list[MemoryHit]:
        """What of the namespace `project_id` helps to answer `query`: messages, memories and facts, best first.

        Raises InvalidInput for a query or number out of range.
        """
        given = {"query": query, "max_hits": max_hits, "answer_over_question": answer_over_question}
        return (await self.relevant_memory(project_id, convert(given, RelevantInput))).hits

    async def relevant_memory(self, namespace: str, wanted: RelevantInput) -> RelevantOutput:
        """The same, with what each arm of the search did."""
        return await get_relevant_memory(self.parts.pipeline, namespace, wanted, log_queries=self.settings.log.queries)

    async def answer(self, namespace: str, question: AnswerInput) -> AnswerOutput:
        """An answer with checked citations out of what `namespace` holds; an extract where no language model can."""
        return await self.answer_from(await self.evidence(namespace, question))

    async def evidence(self, namespace: str, question: AnswerInput) -> RelevantOutput:
        """What an answer to `question` would be made of."""
        wanted = {name: getattr(question, name) for name in RelevantInput.__struct_fields__}
        return await self.relevant_memory(namespace, RelevantInput(**wanted))

    async def answer_from(self, found: RelevantOutput) -> AnswerOutput:
        """The answer out of `found`, to the question that it was found for."""
        return await answering.answer(found, self._chat)

    def answer_events(self, found: RelevantOutput) -> AsyncGenerator[AnswerEvent, None]:
        """The same as it comes: the hits, pieces of text, and last the whole answer."""
        return answering.answer_events(found, self._chat, streamed=True)

    # The search agent.

    @property
    def asks_professor(self) -> bool:
        """Whether the search agent searches the Professor's documents, and not what is kept."""
        return self._agent.professor is not None

    async def search_agent(
        self, namespace: str, asked: SearchAgentInput, *, detail: Detail = "full", origin: Origin = UNKNOWN
    ) -> SearchAgentOutput:
        """The smallest set of evidence for what is asked, never an answer; of `namespace`, or of the Professor's
        documents where one is configured. Raises ToolError when the Professor cannot be used.
        """
        return await agent_cases.run(self._agent, self._agent_request(namespace, asked, origin), detail)

    def search_agent_events(
        self, namespace: str, asked: SearchAgentInput, *, detail: Detail = "full", origin: Origin = UNKNOWN
    ) -> AsyncGenerator[SearchAgentEvent, None]:
        """The same step by step; the last event, `done`, carries the evidence. Closing it cancels the work."""
        return agent_cases.events(self._agent, self._agent_request(namespace, asked, origin), detail)

    def _agent_request(self, namespace: str, asked: SearchAgentInput, origin: Origin) -> agent_cases.Request:
        return agent_cases.Request.make(
            asked, self._agent.professor, origin, partial(self._search_with_files, namespace)
        )

    async def _search_with_files(self, namespace: str, wanted: SearchInput) -> SearchOutput:
        return await search_with_files(partial(self.search, namespace), self.parts.executor, namespace, wanted)

    # Single items.

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

    # Changing items.

    async def list_items(self, namespace: str, query: ItemQuery) -> ItemList:
        """One page of the items that pass the filters. Raises InvalidInput for a cursor of another query."""
        return await item_cases.list_items(self.parts.executor, namespace, query)

    async def put_item(self, namespace: str, uid: str, row: ItemIn, *, if_version: int | None = None) -> PutOutput:
        """Make the item `uid` what `row` says; `if_version` 0 means that it must not be there yet.

        Raises InvalidInput, Conflict when an item of another kind has this uid, PreconditionFailed at another version.
        """
        put = await changing.put(self.parts.executor, namespace, uid, row, if_version)
        self._changed("item.put", put.item, outcome=put.outcome)
        return put

    async def patch_item(
        self, namespace: str, uid: str, patch: Mapping[str, Any], *, if_version: int | None = None
    ) -> ItemOut:
        """Apply a JSON merge patch (RFC 7396) to the item's row: null removes a field; kind and uid stay.

        Raises NotFound, InvalidInput, PreconditionFailed.
        """
        item = await changing.patch(self.parts.executor, namespace, uid, patch, if_version)
        self._changed("item.patch", item)
        return item

    async def remember(self, namespace: str, what: RememberInput) -> PutOutput:
        """Keep a memory or fact; the same content again is stored once. Raises InvalidInput, Conflict."""
        put = await changing.remember(self.parts.executor, namespace, what)
        self._changed("item.remember", put.item, outcome=put.outcome)
        return put

    async def correct(self, namespace: str, uid: str, correction: Correction) -> CorrectOutput:
        """Store what is true instead of a fact, which becomes history, or of a memory, which keeps a revision.

        The same correction again leads to the same item. Raises NotFound, InvalidInput, Conflict for a fact that
        another one supersedes already, and for what cannot be corrected.
        """
        corrected = await changing.correct(self.parts.executor, namespace, uid, correction)
        self._changed("item.correct", corrected.item, superseded=corrected.superseded)
        return corrected

    async def revisions(self, namespace: str, uid: str) -> RevisionList:
        """What a fact or memory was before each of its changes, newest first. Raises NotFound."""
        return await item_cases.revisions(self.parts.executor, namespace, uid)

    async def delete_item(self, namespace: str, uid: str, *, if_version: int | None = None) -> DeleteCounts:
        """Delete one item with all that hangs on it. Raises NotFound, PreconditionFailed."""
        gone = await deleting.delete_item(self.parts.executor, namespace, uid, if_version)
        audit("item.delete", namespace, uid=uid, edges=gone.edges, revisions=gone.revisions)
        return gone

    async def delete_items(self, namespace: str, request: DeleteInput) -> DeleteOutput:
        """Without `confirm_token` a preview with the token to send; with it, delete what was previewed.

        Raises InvalidInput when neither uids nor filters are given, Conflict when the selection changed since.
        """
        done = await deleting.delete_items(self.parts.executor, namespace, request)
        if done.deleted:
            audit("items.delete", namespace, items=done.counts.items, edges=done.counts.edges, kept=done.kept)
        return done

    def _changed(self, action: str, item: ItemOut, **what: Any) -> None:
        audit(action, item.namespace, uid=item.uid, version=item.version, **what)
        self._new_items.set()

    # Edges.

    async def link(self, namespace: str, edge: LinkInput) -> LinkOutput:
        """Draw a typed edge between two items of `namespace`, or make the one that is there, proposed, rejected or
        accepted, a human's: it keeps its id, and what `edge` leaves out. Raises InvalidInput, NotFound.
        """
        done = await edge_cases.link(self.parts.executor, namespace, edge, actor.get())
        if done.changed:
            audit("edge.link", namespace, edge_id=done.edge.edge_id, type=done.edge.type, created=done.created)
        return edge_cases.link_output(done)

    async def unlink(self, namespace: str, which: UnlinkInput) -> EdgeOut:
        """Remove one edge, named by edge_id or by source, type and target; returns it as it was.

        Proposed and rejected ones are removed by edge_id only. Raises InvalidInput, NotFound.
        """
        removed = await edge_cases.unlink(self.parts.executor, namespace, which)
        audit("edge.unlink", namespace, edge_id=removed.edge_id, type=removed.type)
        return removed

    async def get_edge(self, namespace: str, edge_id: str) -> EdgeOut:
        """One edge of `namespace`, accepted or not. Raises NotFound."""
        return await edge_cases.get_edge(self.parts.executor, namespace, edge_id)

    async def list_edges(self, namespace: str, query: EdgeQuery) -> EdgeList:
        """One page of the edges of `namespace`, by edge_id. Raises InvalidInput for a cursor of another query."""
        return await edge_cases.list_edges(self.parts.executor, namespace, query)

    # Namespaces.

    async def namespaces(self, allowed: Callable[[str], bool] = lambda _: True) -> NamespaceList:
        """The namespaces that hold items and for which `allowed` is true (all of them by default), by name."""
        return await namespace_cases.list_namespaces(self.parts.executor, allowed)

    async def delete_namespace(self, namespace: str, confirm_token: str | None = None) -> DeleteOutput:
        """Without `confirm_token` a preview with the token to send; with it, delete everything in `namespace`.

        An interrupted deletion is ended by another preview and its token. Raises NotFound, and Conflict when anything
        changed since the preview.
        """
        done = await namespace_cases.delete_namespace(self.parts.executor, namespace, confirm_token)
        if done.deleted:
            audit("namespace.delete", namespace, items=done.counts.items, edges=done.counts.edges)
        return done

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
            await self.parts.pipeline.search(SearchRequest(["warm up"], ItemFilter(SAMPLE_NAMESPACE), limit=1))

    async def embed_pending(self, *, on_progress: Counted | None = None) -> int:
        """Encode every item that lacks a vector in the active space; 0 when this Librarian's encoder is not its one."""
        parts = self.parts
        if parts.encoder is None or parts.space is None or not parts.space.active:
            return 0
        done = await embed_pending(parts.executor, parts.space, parts.encoder, on_progress)
        if done:
            metrics.set_pending_embeddings(await count_pending(parts.executor))
        return done

    def wake(self) -> None:
        """Let the worker encode texts that have changed."""
        self._new_items.set()

    async def pending_embeddings(self) -> int:
        """Items of all namespaces that lack a vector in the active space."""
        return await count_pending(self.parts.executor)

    async def calibrate(self) -> list[CalibrationOut]:
        """Measure anew what the cosines of the configured encoder's space mean, in each language that it covers.

        Running services take it over within seconds; a Librarian opened to wait keeps what it was opened with.
        """
        parts = self.parts
        if parts.encoder is None or parts.space is None:
            raise InvalidInput("no encoder is configured", field="LIBRARIAN_ENCODER", remedy="name an encoder")
        return calibrations_out(await calibrate(parts.executor, parts.space, parts.encoder))


async def _sample_lines() -> AsyncIterator[tuple[int, bytes]]:
    number = 0
    for name in SAMPLE_FILES:
        text = files("librarian").joinpath("sample", f"{name}.jsonl").read_bytes()
        for line in text.splitlines():
            number += 1
            yield number, line
