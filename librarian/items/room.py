"""Stores, reads, changes and deletes the items, edges and namespaces of one graph."""

from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Mapping, Sequence
from datetime import datetime
from importlib.resources import files
from typing import Any

import msgspec

from graph import items as graph
from graph import tombstones
from graph.executor import Executor
from graph.lookup import get_object
from graph.models import Item
from graph.search import hydrate
from graph.spaces import count_pending
from librarian.base import metrics
from librarian.base.audit import actor_name, audit
from librarian.base.errors import InvalidInput, NotFound, PreconditionFailed
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
from librarian.items.rows import RowBuilder, row_of
from librarian.items.succession import NOTHING_DECLARED, Declared
from librarian.items.uploads import Step, Upcoming
from librarian.runtime.lifecycle import Lifecycle

SAMPLE_NAMESPACE = "sample"
SAMPLE_FILES = ("messages", "facts", "memories", "edges")
_MOST_VALUES = 100


class ItemsRoom:
    """Stores, reads, changes and deletes items, their edges and whole namespaces.

    `wake` is called when texts have changed, to encode them and, with `read_for_facts`, to read messages for facts.
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

    @property
    def _executor(self) -> Executor:
        return self._lifecycle.parts.executor

    async def traits(self, namespace: str) -> dict[str, list[tuple[str, int]]]:
        """Count the items by each value of kind, type, author, domain and month, most frequent first."""
        return await graph.count_traits(self._executor, namespace, _MOST_VALUES)

    async def names(self, namespace: str, uids: Iterable[str]) -> dict[str, str]:
        """Return the names of the existing ones of the items, by uid."""
        return await graph.item_names(self._executor, namespace, sorted(set(uids)))

    async def surroundings(self, namespace: str, uid: str) -> graph.Surroundings:
        """Return the turns before and after a message, and the items that cite an item. Raises NotFound."""
        found = await graph.around_item(self._executor, namespace, uid, _MOST_VALUES)
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
        """Store rows given as (line number from 1, JSON); `on_progress` reports only stored rows.

        `any_namespace` lets rows name namespaces other than `namespace`. Rows up to `after_line` count as
        settled by an earlier run over the same lines. Forgotten items are held back and counted in the report, unless
        `even_if_forgotten`.
        """
        run = Ingest(
            self._executor,
            namespace=namespace,
            mapping=mapping,
            any_namespace=any_namespace,
            after_line=after_line,
            max_text_chars=self._max_text_chars,
            declared=self._declared,
            even_if_forgotten=even_if_forgotten,
            # The sample includes the facts that its messages state.
            read_for_facts=self._read_for_facts and namespace != SAMPLE_NAMESPACE,
        )
        report = await run.run(lines, on_progress, on_stored=self._wake)
        counts = {"added": report.added, "updated": report.updated, "failed": report.failed}
        audit("ingest", namespace, **counts, held_back=report.held_back, even_if_forgotten=even_if_forgotten)
        report.pending_embeddings = await count_pending(self._executor)
        for outcome in ("added", "updated", "unchanged", "failed"):
            metrics.ingest_rows.labels(outcome).inc(getattr(report, outcome))
        metrics.pending_embeddings.set(report.pending_embeddings)
        return report

    async def get_item(
        self, namespace: str, uid: str, as_of: datetime | None = None, known_at: datetime | None = None
    ) -> ItemOut:
        """Return one item of `namespace`, with `known_at` as stored then. Raises NotFound, also if it did not exist yet
        or was not true at `as_of`.
        """
        moments = Moments(as_of=as_of, known_at=known_at)
        return await item_cases.get_item(self._executor, namespace, uid, moments)

    async def get_items(self, namespace: str, uids: Iterable[str]) -> dict[str, ItemOut]:
        """Return the existing ones of the items, by uid."""
        found = await hydrate(self._executor, namespace, sorted(set(uids)))
        return {item.uid: item_cases.item_out(item) for item in found}

    async def get_row(self, namespace: str, uid: str) -> ItemIn:
        """Return the row from which an item can be put again. Raises NotFound, and Conflict for a file chunk."""
        found = await hydrate(self._executor, namespace, [uid])
        if not found:
            raise item_cases.no_item(namespace)
        return row_of(found[0])

    async def look_at(self, namespace: str, rows: Sequence[ItemIn]) -> list[Upcoming]:
        """Preview the effect of keeping the rows, skipping contradictory ones; stores nothing."""
        return await uploads.look_at(self._executor, namespace, rows)

    async def keep_rows(self, namespace: str, rows: Sequence[ItemIn]) -> tuple[IngestReport, list[Step]]:
        """Store rows, and also return how to undo that."""
        looked_at = await self.look_at(namespace, rows)
        report = await self.ingest(_lines(rows), namespace=namespace)
        return report, await uploads.steps_back(self._executor, namespace, looked_at)

    async def take_back(self, namespace: str, steps: Iterable[Step]) -> int:
        """Restore items to their state before they were kept; return how many stay because they changed since."""
        stay = 0
        for step in steps:
            try:
                if step.before is None:
                    # After an undo the same upload must be possible again.
                    await self.delete_item(namespace, step.uid, tombstones=False, if_version=step.version)
                else:
                    await self.put_item(namespace, step.uid, step.before, if_version=step.version)
            except (NotFound, PreconditionFailed):
                stay += 1
        return stay

    async def get_object(self, namespace: str, uid: str) -> Item:
        """Return one item of `namespace` as a read-only neomodel object, for Python programs. Raises NotFound."""
        found = await get_object(self._executor, namespace, uid)
        if found is None:
            raise item_cases.no_item(namespace)
        return found

    async def load_sample(self) -> IngestReport:
        """Load the sample data into namespace `sample`; repeating it changes nothing."""
        return await self.ingest(_sample_lines(), namespace=SAMPLE_NAMESPACE)

    async def list_items(self, namespace: str, query: ItemQuery) -> ItemList:
        """Return one page of the items that pass the filters. Raises InvalidInput for a cursor of another query."""
        return await item_cases.list_items(self._executor, namespace, query)

    async def put_item(self, namespace: str, uid: str, row: ItemIn, *, if_version: int | None = None) -> PutOutput:
        """Create or replace the item `uid` by `row`; `if_version` 0 requires that it does not exist yet.

        Raises InvalidInput, Conflict if an item of another kind has this uid, PreconditionFailed at another version.
        """
        put = await changing.put(self._executor, namespace, uid, row, if_version, read_for_facts=self._read_for_facts)
        self._changed("item.put", put.item, outcome=put.outcome)
        return put

    async def patch_item(
        self, namespace: str, uid: str, patch: Mapping[str, Any], *, if_version: int | None = None
    ) -> ItemOut:
        """Apply a JSON merge patch (RFC 7396) to the item's row: null removes a field; kind and uid stay.

        Raises NotFound, InvalidInput, PreconditionFailed.
        """
        item = await changing.patch(self._executor, namespace, uid, patch, if_version)
        self._changed("item.patch", item)
        return item

    async def remember(self, namespace: str, what: RememberInput) -> PutOutput:
        """Keep a memory or fact; equal content is stored once. Raises InvalidInput, Conflict."""
        put = await changing.remember(self._executor, namespace, what, self._declared)
        self._changed("item.remember", put.item, outcome=put.outcome)
        return put

    async def correct(self, namespace: str, uid: str, correction: Correction) -> CorrectOutput:
        """Correct a fact, which becomes history, or a memory, which keeps a revision.

        Repeating a correction returns the same item. Raises NotFound, InvalidInput, and Conflict for a fact that is
        already superseded by another, or an item that cannot be corrected.
        """
        corrected = await changing.correct(self._executor, namespace, uid, correction)
        self._changed("item.correct", corrected.item, superseded=corrected.superseded)
        return corrected

    async def revisions(self, namespace: str, uid: str) -> RevisionList:
        """Return a fact or memory before each of its changes, newest first. Raises NotFound."""
        return await item_cases.revisions(self._executor, namespace, uid)

    async def impact(self, namespace: str, uid: str) -> ImpactOutput:
        """Return the items affected if the item ended, were corrected or forgotten. Raises NotFound."""
        return await item_cases.impact(self._executor, namespace, uid)

    async def impact_of(self, namespace: str, asked: ImpactInput) -> ImpactOutput:
        """Return `impact` of the item in `asked`. Raises NotFound."""
        return await self.impact(namespace, asked.uid)

    async def delete_item(
        self, namespace: str, uid: str, *, tombstones: bool = True, if_version: int | None = None
    ) -> DeleteCounts:
        """Delete one item with everything attached to it; a tombstone keeps it from returning, unless `tombstones` is
        false. Raises NotFound, PreconditionFailed.
        """
        gone = await deleting.delete_item(self._executor, namespace, uid, if_version, forgotten=tombstones)
        audit("item.delete", namespace, uid=uid, edges=gone.edges, revisions=gone.revisions)
        return gone

    async def delete_items(self, namespace: str, request: DeleteInput, *, tombstones: bool = True) -> DeleteOutput:
        """Return a preview with a token; with that `confirm_token`, delete what was previewed.

        Raises InvalidInput if neither uids nor filters are given, Conflict if the selection has changed since.
        """
        done = await deleting.delete_items(self._executor, namespace, request, forgotten=tombstones)
        if done.deleted:
            audit("items.delete", namespace, items=done.counts.items, edges=done.counts.edges, kept=done.kept)
        return done

    async def list_forgotten(self, namespace: str, query: ForgottenQuery) -> ForgottenList:
        """Return one page of tombstones, latest first. Raises InvalidInput for a cursor of another query."""
        return await forgetting.list_forgotten(self._executor, namespace, query)

    async def lift_forgotten(self, namespace: str, what: LiftInput) -> LiftOutput:
        """Allow forgotten items to return when they are ingested or imported again. Raises InvalidInput."""
        if what.uids is None and what.tombstone_ids is None:
            raise InvalidInput("name uids or tombstone_ids", field="$.uids")
        lifted = await tombstones.lift(self._executor, namespace, what.uids or [], what.tombstone_ids or [])
        audit("forgotten.lift", namespace, lifted=lifted)
        return LiftOutput(lifted=lifted)

    async def keep_again(self, namespace: str, uid: str, row: ItemIn) -> PutOutput:
        """Undo the forgetting of an item: put `row` again. Raises InvalidInput, and PreconditionFailed if the uid is in
        use.
        """
        item = RowBuilder().item(namespace, row).item
        said = tombstones.Said(uid, item.kind, tombstones.said_by(item).texts)
        await tombstones.lift_said(self._executor, namespace, said)
        audit("forgotten.lift", namespace, uid=uid)
        return await self.put_item(namespace, uid, row, if_version=0)

    def _changed(self, action: str, item: ItemOut, **what: Any) -> None:
        audit(action, item.namespace, uid=item.uid, version=item.version, **what)
        self._wake()

    async def link(self, namespace: str, edge: LinkInput) -> LinkOutput:
        """Draw a typed edge between two items of `namespace`, or set the method of an existing one (proposed, rejected
        or accepted) to human: it keeps its id, and the fields that `edge` leaves out. Raises InvalidInput, NotFound.
        """
        done = await edge_cases.link(self._executor, namespace, edge, actor_name())
        if done.changed:
            audit("edge.link", namespace, edge_id=done.edge.edge_id, type=done.edge.type, created=done.created)
        return edge_cases.link_output(done)

    async def unlink(self, namespace: str, which: UnlinkInput) -> EdgeOut:
        """Remove one edge, named by edge_id or by source, type and target, and return it.

        Proposed and rejected ones are removed by edge_id only. Raises InvalidInput, NotFound.
        """
        removed = await edge_cases.unlink(self._executor, namespace, which)
        audit("edge.unlink", namespace, edge_id=removed.edge_id, type=removed.type)
        return removed

    async def delete_edge(self, namespace: str, edge_id: str) -> EdgeOut:
        """Remove the edge `edge_id` and return it. Raises NotFound."""
        return await self.unlink(namespace, UnlinkInput(edge_id=edge_id))

    async def get_edge(self, namespace: str, edge_id: str) -> EdgeOut:
        """Return one edge of `namespace`, accepted or not. Raises NotFound."""
        return await edge_cases.get_edge(self._executor, namespace, edge_id)

    async def list_edges(self, namespace: str, query: EdgeQuery) -> EdgeList:
        """Return one page of the edges of `namespace`, by edge_id. Raises InvalidInput for a
        cursor of another query.
        """
        return await edge_cases.list_edges(self._executor, namespace, query)

    async def namespaces(self, allowed: Callable[[str], bool] = lambda _: True) -> NamespaceList:
        """Return the namespaces that hold items and are `allowed` (default: all), by name."""
        return await namespace_cases.list_namespaces(self._executor, allowed)

    async def delete_namespace(self, namespace: str, confirm_token: str | None = None) -> DeleteOutput:
        """Return a preview with a token; with that `confirm_token`, delete everything in `namespace`.

        Concurrent writes are kept and counted. An interrupted deletion is finished by another preview and its token.
        Raises NotFound, and Conflict if anything has changed since the preview.
        """
        done = await namespace_cases.delete_namespace(self._executor, namespace, confirm_token)
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
