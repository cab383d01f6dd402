"""Exports namespaces to one file while others continue to read and write."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from graph.executor import Executor
from graph.exporting import Marks, Page, all_namespaces, pages, read_marks, settled_moment, spaces_of
from graph.namespaces import exists
from graph.tombstones import forgetful_namespaces
from graph.types import native
from librarian.base.errors import NotFound
from librarian.base.overlap import one_ahead
from librarian.transfer.atomic import whole_file
from librarian.transfer.contracts import FORMAT, VERSION, ExportReport, HeaderRow, Holding, NamespaceRow, SpaceRow
from librarian.transfer.reading import latest_schema
from librarian.transfer.writing import ExportWriter

Counted = Callable[[int, int], None]
"""Called with (items written, items in total)."""

GZIP_SUFFIX = ".gz"
_ATTEMPTS = 3


async def export_to(
    executor: Executor,
    target: Path,
    namespaces: Sequence[str] | None = None,
    *,
    vectors: bool = False,
    compress: bool | None = None,
    on_progress: Counted | None = None,
) -> ExportReport:
    """Write `namespaces` (None: all) to `target`, which appears only when it is complete; gzipped if its name ends in
    .gz, or as `compress` says.

    The file represents one moment: anything created later is not in it. If something changes while it is read, it is
    read again, up to three times; the report's `exact` says whether that succeeded. Raises NotFound, CannotWrite.
    """
    zipped = target.suffix == GZIP_SUFFIX if compress is None else compress
    with whole_file(target) as file:
        report = await export_into(
            executor, file, namespaces, vectors=vectors, compress=zipped, on_progress=on_progress
        )
        report.file = str(target)
    return report


async def export_into(
    executor: Executor,
    file: BinaryIO,
    namespaces: Sequence[str] | None = None,
    *,
    vectors: bool = False,
    compress: bool = False,
    tombstones: bool = True,
    on_progress: Counted | None = None,
) -> ExportReport:
    """Write an export to an empty, seekable file open for reading and writing."""
    await _refuse_unknown(executor, namespaces or ())
    writer = ExportWriter(file, compress=compress)
    for attempt in range(1, _ATTEMPTS + 1):
        if attempt > 1:
            await asyncio.to_thread(writer.restart)
        report = await _Export(executor, writer, on_progress, vectors=vectors, tombstones=tombstones).run(namespaces)
        if report.exact:
            break
    report.bytes = file.tell()
    return report


async def _refuse_unknown(executor: Executor, namespaces: Sequence[str]) -> None:
    for namespace in namespaces:
        if not await exists(executor, namespace):
            raise NotFound(f"there is no namespace {namespace!r}", field="namespace")


class _Export:
    """One attempt."""

    def __init__(
        self, executor: Executor, writer: ExportWriter, on_progress: Counted | None, *, vectors: bool, tombstones: bool
    ) -> None:
        self._executor = executor
        self._writer = writer
        self._vectors = vectors
        self._tombstones = tombstones
        self._on_progress = on_progress
        self._items = 0

    async def run(self, namespaces: Sequence[str] | None) -> ExportReport:
        """Write header, rows and footer."""
        moment = await settled_moment(self._executor)
        names = await self._all() if namespaces is None else sorted(set(namespaces))
        before = await self._marks(names, moment)
        await self._head(names, before)
        total = sum(sum(marks.by_kind.values()) for marks in before.values())
        for name in names:
            self._writer.head(NamespaceRow(namespace=name))
            source = pages(self._executor, name, moment, vectors=self._vectors, tombstones=self._tombstones)
            await self._rows(source, total)
        exact = before == await self._marks(names, moment)
        footer = await asyncio.to_thread(self._writer.finish)
        made_at: datetime = native(moment)
        return ExportReport(
            namespaces=names,
            rows=footer.rows,
            sha256=footer.sha256,
            moment=made_at.astimezone(UTC),
            exact=exact,
            bytes=0,
        )

    async def _all(self) -> list[str]:
        """Return every namespace, including those that hold only tombstones."""
        forgetful = await forgetful_namespaces(self._executor) if self._tombstones else []
        return sorted({*await all_namespaces(self._executor), *forgetful})

    async def _rows(self, source: AsyncIterator[Page], total: int) -> None:
        async with aclosing(one_ahead(lambda: anext(source, None))) as ahead:
            async for page in ahead:
                await asyncio.to_thread(self._writer.rows, *page)
                self._progress(page[0], len(page[1]), total)

    async def _marks(self, names: Sequence[str], moment: Any) -> dict[str, Marks]:
        return {name: await read_marks(self._executor, name, moment) for name in names}

    async def _head(self, names: Sequence[str], marks: dict[str, Marks]) -> None:
        spaces: dict[str, SpaceRow] = {}
        for name in names if self._vectors else ():
            found = [msgspec.convert(space, SpaceRow) for space in await spaces_of(self._executor, name)]
            spaces |= {space.space: space for space in found}
        header = HeaderRow(
            format=FORMAT,
            version=VERSION,
            librarian=version("librarian"),
            schema=latest_schema(),
            vectors=self._vectors,
            spaces=[spaces[name] for name in sorted(spaces)],
            namespaces=[msgspec.convert({"namespace": name, "items": marks[name].by_kind}, Holding) for name in names],
        )
        self._writer.head(header)

    def _progress(self, section: str, rows: int, total: int) -> None:
        if section == "item":
            self._items += rows
        if self._on_progress is not None:
            self._on_progress(self._items, total)
