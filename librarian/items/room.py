"""Items of one graph, their edges and their namespaces: stored, read, changed and deleted."""

from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Mapping, Sequence
from datetime import datetime
from importlib.resources import files
from typing import Any

import msgspec

from graph import items as graph
from graph.lookup import get_object
from graph.models import Item
from graph.spaces import count_pending
from librarian.base import metrics
from librarian.base.audit import actor_name, audit
from librarian.base.errors import NotFound, PreconditionFailed
from librarian.items import changes as changing
from librarian.items import deletion as deleting
from librarian.items import edges as edge_cases
from librarian.items import forgetting, uploads
from librarian.items import namespaces as namespace_cases
from librarian.items import reading as item_cases
from librarian.items.contracts import (
    Correction,
    CorrectOutput,
    DeleteCounts,
    DeleteInput,
    DeleteOutput,
    EdgeList,
    EdgeOut,
    EdgeQuery,
    ForgottenList,
    ForgottenQuery,
    ImpactInput,
    ImpactOutput,
    IngestReport,
    ItemIn,
    ItemList,
    ItemOut,
    ItemQuery,
    LiftInput,
    LiftOutput,
    LinkInput,
    LinkOutput,
    Moments,
    NamespaceList,
    PutOutput,
    RememberInput,
    RevisionList,
    UnlinkInput,
)
from librarian.items.ingest import Ingest
from librarian.items.rowmap import RowMap
from librarian.items.succession import NOTHING_DECLARED, Declared
from librarian.items.uploads import Step, Upcoming
from librarian.runtime.lifecycle import Lifecycle

SAMPLE_NAMESPACE = "sample"
SAMPLE_FILES = ("messages", "facts", "memories", "edges")
_MOST_VALUES = 100


class ItemsRoom:
    """Stores, reads, changes and deletes items, their edges and whole namespaces.

    `wake` is called when texts have changed, so that they are encoded, and with `read_for_facts` messages are read.
    """

    def __init__(
        self,
        lifecycle: Lifecycle,
        max_text_chars: int,
        wake: Callable[[], None],
        declared: Declared = NOTHING_DECLARED,
        *,
        read_for_facts: bool = False,
    ) -> None:
        self._read_for_facts = read_for_facts
        self._declared = declared
        self._lifecycle = lifecycle
        self._max_text_chars = max_text_chars
        self._wake = wake

    async def traits(self, namespace: str) -> dict[str, list[tuple[str, int]]]:
        """Return how many items have each value of kind, type, author, domain and month, the most frequent first."""
        return await graph.count_traits(self._lifecycle.parts.executor, namespace, _MOST_VALUES)

    async def names(self, namespace: str, uids: Iterable[str]) -> dict[str, str]:
        """Return the names of those items that exist, by uid."""
        return await graph.item_names(self._lifecycle.parts.executor, namespace, sorted(set(uids)))

    async def surroundings(self, namespace: str, uid: str) -> graph.Surroundings:
        """Return the turns before and after a message, and what rests on an item. Raises NotFound."""
        found = await graph.around_item(self._lifecycle.parts.executor, namespace, uid, _MOST_VALUES)
        if found is None:
            raise item_cases.no_item(namespace)
        return found

    async def ingest(
        self,
        lines: AsyncIterable[tuple[int, bytes]],
        *,
        namespace: str,
        mapping: RowMap | None = None,
        any_namespace: bool = False,
        after_line: int = 0,
        even_if_forgotten: bool = False,
        on_progress: Callable[[IngestReport], None] | None = None,
    ) -> IngestReport:
        """Store rows given as (line number from 1, JSON); what `on_progress` reports is stored already.

        `any_namespace` lets rows name namespaces other than `namespace`. Rows up to `after_line` count as
        settled by an earlier run over the same lines. What was forgotten is held back, and the report says so;
        `even_if_forgotten` lets it come back.
        """
        run = Ingest(
            self._lifecycle.parts.executor,
            namespace=namespace,
            mapping=mapping,
            any_namespace=any_namespace,
            after_line=after_line,
            max_text_chars=self._max_text_chars,
            declared=self._declared,
            even_if_forgotten=even_if_forgotten,
            # The sample brings the facts that its messages state.
            read_for_facts=self._read_for_facts and namespace != SAMPLE_NAMESPACE,
        )
        report = await run.run(lines, on_progress)
        counts = {"added": report.added, "updated": report.updated, "failed": report.failed}
        audit("ingest", namespace, **counts, held_back=report.held_back, even_if_forgotten=even_if_forgotten)
        self._wake()
        report.pending_embeddings = await count_pending(self._lifecycle.parts.executor)
        metrics.count_rows(report)
        metrics.set_pending_embeddings(report.pending_embeddings)
        return report

    async def get_item(
        self, namespace: str, uid: str, as_of: datetime | None = None, known_at: datetime | None = None
    ) -> ItemOut:
        """Return one item of `namespace`, with `known_at` as it was on file then. Raises NotFound, also where it was
        not there yet, or did not hold at `as_of`.
        """
        moments = Moments(as_of=as_of, known_at=known_at)
        return await item_cases.get_item(self._lifecycle.parts.executor, namespace, uid, moments)

    async def get_items(self, namespace: str, uids: Iterable[str]) -> dict[str, ItemOut]:
        """Return those of the items that exist, by uid."""
        return await item_cases.get_items(self._lifecycle.parts.executor, namespace, uids)

    async def get_row(self, namespace: str, uid: str) -> ItemIn:
        """Return the row that an item can be put from again. Raises NotFound, Conflict for a part of a file."""
        return await item_cases.get_row(self._lifecycle.parts.executor, namespace, uid)

    async def look_at(self, namespace: str, rows: Sequence[ItemIn]) -> list[Upcoming]:
        """Return what keeping the rows would do, without those that contradict themselves; nothing is kept."""
        return await uploads.look_at(self._lifecycle.parts.executor, namespace, rows)

    async def keep_rows(self, namespace: str, rows: Sequence[ItemIn]) -> tuple[IngestReport, list[Step]]:
        """Store rows, and return how to take that back too."""
        looked_at = await self.look_at(namespace, rows)
        report = await self.ingest(_lines(rows), namespace=namespace)
        return report, await uploads.steps_back(self._lifecycle.parts.executor, namespace, looked_at)

    async def take_back(self, namespace: str, steps: Iterable[Step]) -> int:
        """Make items what they were before they were kept; return how many stay, because they were changed since."""
        stay = 0
        for step in steps:
            try:
                if step.before is None:
                    # Whoever takes an upload back may upload the same again.
                    await self._delete_item(namespace, step.uid, step.version, forgotten=False)
                else:
                    await self.put_item(namespace, step.uid, step.before, if_version=step.version)
            except (NotFound, PreconditionFailed):
                stay += 1
        return stay

    async def get_object(self, namespace: str, uid: str) -> Item:
        """Return one item of `namespace` as its read-only neomodel class, for Python programs. Raises NotFound."""
        found = await get_object(self._lifecycle.parts.executor, namespace, uid)
        if found is None:
            raise NotFound(f"no item has this uid in namespace {namespace!r}", field="uid")
        return found

    async def load_sample(self) -> IngestReport:
        """Put the sample data into namespace `sample`; a second time changes nothing."""
        return await self.ingest(_sample_lines(), namespace=SAMPLE_NAMESPACE)

    async def list_items(self, namespace: str, query: ItemQuery) -> ItemList:
        """Return one page of the items that pass the filters. Raises InvalidInput for a cursor of another query."""
        return await item_cases.list_items(self._lifecycle.parts.executor, namespace, query)

    async def put_item(self, namespace: str, uid: str, row: ItemIn, *, if_version: int | None = None) -> PutOutput:
        """Make the item `uid` what `row` says; `if_version` 0 means that it must not be there yet.

        Raises InvalidInput, Conflict when an item of another kind has this uid, PreconditionFailed at another version.
        """
        executor = self._lifecycle.parts.executor
        put = await changing.put(executor, namespace, uid, row, if_version, read_for_facts=self._read_for_facts)
        self._changed("item.put", put.item, outcome=put.outcome)
        return put

    async def patch_item(
        self, namespace: str, uid: str, patch: Mapping[str, Any], *, if_version: int | None = None
    ) -> ItemOut:
        """Apply a JSON merge patch (RFC 7396) to the item's row: null removes a field; kind and uid stay.

        Raises NotFound, InvalidInput, PreconditionFailed.
        """
        item = await changing.patch(self._lifecycle.parts.executor, namespace, uid, patch, if_version)
        self._changed("item.patch", item)
        return item

    async def remember(self, namespace: str, what: RememberInput) -> PutOutput:
        """Keep a memory or fact; the same content again is stored once. Raises InvalidInput, Conflict."""
        put = await changing.remember(self._lifecycle.parts.executor, namespace, what, self._declared)
        self._changed("item.remember", put.item, outcome=put.outcome)
        return put

    async def correct(self, namespace: str, uid: str, correction: Correction) -> CorrectOutput:
        """Store what is true instead of a fact, which becomes history, or of a memory, which keeps a revision.

        The same correction again leads to the same item. Raises NotFound, InvalidInput, Conflict for a fact that
        another one supersedes already, and for what cannot be corrected.
        """
        corrected = await changing.correct(self._lifecycle.parts.executor, namespace, uid, correction)
        self._changed("item.correct", corrected.item, superseded=corrected.superseded)
        return corrected

    async def revisions(self, namespace: str, uid: str) -> RevisionList:
        """Return what a fact or memory was before each of its changes, newest first. Raises NotFound."""
        return await item_cases.revisions(self._lifecycle.parts.executor, namespace, uid)

    async def impact(self, namespace: str, uid: str) -> ImpactOutput:
        """Return what would rest on nothing if the item ended, were corrected or forgotten. Raises NotFound."""
        return await item_cases.impact(self._lifecycle.parts.executor, namespace, uid)

    async def impact_of(self, namespace: str, asked: ImpactInput) -> ImpactOutput:
        """Return `impact` of the item that is asked about. Raises NotFound."""
        return await self.impact(namespace, asked.uid)

    async def delete_item(
        self, namespace: str, uid: str, *, tombstones: bool = True, if_version: int | None = None
    ) -> DeleteCounts:
        """Delete one item with all that hangs on it; a tombstone keeps it from coming back, unless there are to be
        none. Raises NotFound, PreconditionFailed.
        """
        return await self._delete_item(namespace, uid, if_version, forgotten=tombstones)

    async def delete_items(self, namespace: str, request: DeleteInput, *, tombstones: bool = True) -> DeleteOutput:
        """Without `confirm_token` a preview with the token to send; with it, delete what was previewed.

        Raises InvalidInput when neither uids nor filters are given, Conflict when the selection changed since.
        """
        done = await deleting.delete_items(self._lifecycle.parts.executor, namespace, request, forgotten=tombstones)
        if done.deleted:
            audit("items.delete", namespace, items=done.counts.items, edges=done.counts.edges, kept=done.kept)
        return done

    async def list_forgotten(self, namespace: str, query: ForgottenQuery) -> ForgottenList:
        """Return one page of what was forgotten, the latest first. Raises InvalidInput for a cursor of another
        query.
        """
        return await forgetting.list_forgotten(self._lifecycle.parts.executor, namespace, query)

    async def lift_forgotten(self, namespace: str, what: LiftInput) -> LiftOutput:
        """Let what was forgotten come back when it is ingested or imported again. Raises InvalidInput."""
        done = await forgetting.lift(self._lifecycle.parts.executor, namespace, what)
        audit("forgotten.lift", namespace, lifted=done.lifted)
        return done

    async def keep_again(self, namespace: str, uid: str, row: ItemIn) -> PutOutput:
        """Undo that an item was forgotten: put what `row` says again. Raises InvalidInput, PreconditionFailed where
        the uid is taken.
        """
        await forgetting.lift_row(self._lifecycle.parts.executor, namespace, uid, row)
        audit("forgotten.lift", namespace, uid=uid)
        return await self.put_item(namespace, uid, row, if_version=0)

    async def _delete_item(self, namespace: str, uid: str, if_version: int | None, *, forgotten: bool) -> DeleteCounts:
        executor = self._lifecycle.parts.executor
        gone = await deleting.delete_item(executor, namespace, uid, if_version, forgotten=forgotten)
        audit("item.delete", namespace, uid=uid, edges=gone.edges, revisions=gone.revisions)
        return gone

    def _changed(self, action: str, item: ItemOut, **what: Any) -> None:
        audit(action, item.namespace, uid=item.uid, version=item.version, **what)
        self._wake()

    async def link(self, namespace: str, edge: LinkInput) -> LinkOutput:
        """Draw a typed edge between two items of `namespace`, or make the one that is there, proposed, rejected or
        accepted, a human's: it keeps its id, and what `edge` leaves out. Raises InvalidInput, NotFound.
        """
        done = await edge_cases.link(self._lifecycle.parts.executor, namespace, edge, actor_name())
        if done.changed:
            audit("edge.link", namespace, edge_id=done.edge.edge_id, type=done.edge.type, created=done.created)
        return edge_cases.link_output(done)

    async def unlink(self, namespace: str, which: UnlinkInput) -> EdgeOut:
        """Remove one edge, named by edge_id or by source, type and target; returns it as it was.

        Proposed and rejected ones are removed by edge_id only. Raises InvalidInput, NotFound.
        """
        removed = await edge_cases.unlink(self._lifecycle.parts.executor, namespace, which)
        audit("edge.unlink", namespace, edge_id=removed.edge_id, type=removed.type)
        return removed

    async def delete_edge(self, namespace: str, edge_id: str) -> EdgeOut:
        """Remove the edge `edge_id`; returns it as it was. Raises NotFound."""
        return await self.unlink(namespace, UnlinkInput(edge_id=edge_id))

    async def get_edge(self, namespace: str, edge_id: str) -> EdgeOut:
        """Return one edge of `namespace`, accepted or not. Raises NotFound."""
        return await edge_cases.get_edge(self._lifecycle.parts.executor, namespace, edge_id)

    async def list_edges(self, namespace: str, query: EdgeQuery) -> EdgeList:
        """Return one page of the edges of `namespace`, by edge_id. Raises InvalidInput for a
        cursor of another query.
        """
        return await edge_cases.list_edges(self._lifecycle.parts.executor, namespace, query)

    async def namespaces(self, allowed: Callable[[str], bool] = lambda _: True) -> NamespaceList:
        """Return the namespaces that hold items and for which `allowed` is true (all of them by default), by name."""
        return await namespace_cases.list_namespaces(self._lifecycle.parts.executor, allowed)

    async def delete_namespace(self, namespace: str, confirm_token: str | None = None) -> DeleteOutput:
        """Without `confirm_token` a preview with the token to send; with it, delete everything in `namespace`.

        What is written while it runs is kept and counted. An interrupted deletion is ended by another preview and its
        token. Raises NotFound, and Conflict when anything changed since the preview.
        """
        done = await namespace_cases.delete_namespace(self._lifecycle.parts.executor, namespace, confirm_token)
        if done.deleted:
            audit("namespace.delete", namespace, items=done.counts.items, edges=done.counts.edges, kept=done.kept)
        return done


async def _lines(rows: Iterable[ItemIn]) -> AsyncIterator[tuple[int, bytes]]:
    for number, row in enumerate(rows, start=1):
        yield number, msgspec.json.encode(row)


async def _sample_lines() -> AsyncIterator[tuple[int, bytes]]:
    number = 0
    for name in SAMPLE_FILES:
        text = files("librarian.items").joinpath("sample", f"{name}.jsonl").read_bytes()
        for line in text.splitlines():
            number += 1
            yield number, line
