"""Ingest: stores the items and edges of lines, and reports every fault with its line and field."""

import time
from collections.abc import AsyncIterable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, cast

from graph.edges import NewEdge
from graph.executor import Executor
from graph.ingest import finish_ingest, store_batch
from graph.item import NewItem
from graph.types import Provenance, Stored
from librarian.base import metrics, strictjson
from librarian.base.audit import actor
from librarian.base.errors import InvalidInput, PayloadTooLarge
from librarian.base.fields import MAX_TEXT_CHARS
from librarian.items.contracts import EdgeIn, IngestReport, RowError, RowIn
from librarian.items.forgetting import NOTE as HELD_BACK
from librarian.items.forgetting import RESEMBLING
from librarian.items.rowmap import RowMap
from librarian.items.rows import RowBuilder, new_edge
from librarian.items.succession import NOTHING_DECLARED, Declared, audited, proposals, remarks, with_successions

BATCH_ROWS = 500
BATCH_BYTES = 8 * 2**20
MAX_REPORTED_ERRORS = 1000
MAX_REPORTED_UIDS = 1000
_ROW = cast("type[RowIn]", RowIn)  # a union of classes decodes like one
OnProgress = Callable[[IngestReport], None]


@dataclass(slots=True)
class _Batch:
    """Valid rows of one namespace to store together, with their lines."""

    namespace: str
    items: list[tuple[int, NewItem]] = field(default_factory=list)
    edges: list[NewEdge] = field(default_factory=list)
    sources: dict[int, str] = field(default_factory=dict)
    """Ends of edges by line, as sent: RELATES_TO may be stored in the opposite order."""
    size: int = 0

    @property
    def full(self) -> bool:
        return len(self.items) + len(self.edges) >= BATCH_ROWS or self.size >= BATCH_BYTES


class Ingest:
    """One run: rows are gathered into batches by namespace; each batch is one transaction."""

    def __init__(
        self,
        executor: Executor,
        *,
        namespace: str,
        mapping: RowMap | None = None,
        any_namespace: bool = False,
        after_line: int = 0,
        max_text_chars: int = MAX_TEXT_CHARS,
        declared: Declared = NOTHING_DECLARED,
        even_if_forgotten: bool = False,
        read_for_facts: bool = False,
    ) -> None:
        self._declared = declared
        self._made: list[tuple[str, str]] = []
        self._proposed: list[tuple[str, str]] = []
        self.report = IngestReport()
        self._even_if_forgotten = even_if_forgotten
        self._max_text_chars = max_text_chars
        self._after_line = after_line
        self._executor = executor
        self._namespace = namespace
        self._mapping = mapping
        self._any_namespace = any_namespace
        self._builder = RowBuilder(read=read_for_facts)
        self._batches: dict[str, _Batch] = {}
        self._touched: set[str] = set()

    async def run(
        self,
        lines: AsyncIterable[tuple[int, bytes]],
        on_progress: OnProgress | None,
        *,
        on_stored: Callable[[], None],
    ) -> IngestReport:
        """Store all valid rows of `lines`. `on_stored` is called, and progress reported, after each commit."""
        async for number, line in lines:
            if not line.strip():
                continue
            if number <= self._after_line:
                self._pass_over(number, line)
                continue
            batch = self._take(number, line)
            if batch and batch.full:
                await self._store_all()
                on_stored()
                if on_progress:
                    on_progress(self.report)
        await self._store_all()
        on_stored()
        await self._finish()
        self.report.errors.sort(key=lambda error: error.line)
        if on_progress:
            on_progress(self.report)
        return self.report

    def _pass_over(self, number: int, line: bytes) -> None:
        """Build and drop an already settled row, so that it counts when later equal anonymous rows are numbered."""
        with suppress(InvalidInput, PayloadTooLarge):
            row = self._decode(number, line)
            if not isinstance(row, EdgeIn):
                self._builder.item(self._namespace_of(row), row)

    def _take(self, number: int, line: bytes) -> _Batch | None:
        """Add one row to its batch, or its fault to the report."""
        try:
            row = self._decode(number, line)
            namespace = self._namespace_of(row)
            batch = self._batches.setdefault(namespace, _Batch(namespace))
            if isinstance(row, EdgeIn):
                batch.edges.append(new_edge(namespace, row, number))
                batch.sources[number] = row.source
            else:
                batch.items.append((number, self._builder.item(namespace, row)))
        except (InvalidInput, PayloadTooLarge) as fault:
            self._fail(number, fault.field or "$", fault.code, str(fault))
            return None
        batch.size += len(line)
        return batch

    def _decode(self, number: int, line: bytes) -> RowIn:
        if self._mapping is None:
            return strictjson.decode(line, _ROW, most_chars=self._max_text_chars)
        source: dict[str, Any] = strictjson.decode(line, dict, most_chars=self._max_text_chars)
        return strictjson.convert(self._mapping.apply(source, number), _ROW)

    def _namespace_of(self, row: RowIn) -> str:
        if row.namespace is None or row.namespace == self._namespace:
            return self._namespace
        if not self._any_namespace:
            raise InvalidInput("this row names another namespace than the request", field="$.namespace")
        return row.namespace

    async def _store_all(self) -> None:
        batches, self._batches = list(self._batches.values()), {}
        for batch in batches:
            # Items of a batch are stored before its edges, which may name them.
            started = time.perf_counter()
            found = await with_successions(
                self._executor, batch.namespace, [item for _, item in batch.items], self._declared
            )
            by = Provenance("ingest", actor.get())
            stored = await store_batch(
                self._executor,
                batch.namespace,
                found.items,
                batch.edges,
                by,
                proposed=proposals(batch.namespace, found),
                even_if_forgotten=self._even_if_forgotten,
            )
            self._made += audited(batch.namespace, found)
            self._proposed += found.proposed
            metrics.batch_seconds.observe(time.perf_counter() - started)
            self._touched.add(batch.namespace)
            self._count(batch, stored)

    def _count(self, batch: _Batch, stored: Stored) -> None:
        lines = {new.item.uid: number for number, new in batch.items}
        repeated = len(batch.items) - len(lines)
        self.report.added += len(stored.added) + len(stored.edges_added)
        self.report.updated += len(stored.updated)
        self.report.unchanged += len(stored.unchanged) + len(stored.edges_known) + repeated
        self.report.held_back += len(stored.held_back) + len(stored.edges_held_back)
        shown = self.report.held_back_uids
        shown += stored.held_back[: MAX_REPORTED_UIDS - len(shown)]
        self.report.resembling += len(stored.resembling)
        alike = self.report.resembling_uids
        alike += stored.resembling[: MAX_REPORTED_UIDS - len(alike)]
        for uid in stored.clashes:
            self._fail(lines[uid], "$.uid", "uid_taken", "an item of another kind has this uid; choose another")
        for line, missing in stored.edges_dangling.items():
            where = "$.source" if batch.sources[line] in missing else "$.target"
            named = " and ".join(map(repr, missing))
            self._fail(line, where, "unknown_uid", f"no item of this namespace has the uid {named}")

    async def _finish(self) -> None:
        self.report.notes += remarks(self._made, self._proposed)
        waiting = [await finish_ingest(self._executor, namespace) for namespace in sorted(self._touched)]
        if any(waiting):
            named = f"{sum(waiting)} items name evidence or older facts that are not stored yet"
            self.report.notes.append(f"{named}; the links follow")
        if self.report.held_back:
            self.report.notes.append(f"{self.report.held_back} rows are {HELD_BACK}")
        if self.report.resembling:
            self.report.notes.append(f"{self.report.resembling} items {RESEMBLING}")

    def _fail(self, line: int, where: str, code: str, message: str) -> None:
        self.report.failed += 1
        if len(self.report.errors) < MAX_REPORTED_ERRORS:
            self.report.errors.append(RowError(line=line, field=where, code=code, message=message))
