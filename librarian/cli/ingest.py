"""`librarian ingest`."""

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, BinaryIO

import typer
from rich.progress import DownloadColumn

from librarian.cli.display import Bar, table
from librarian.cli.exports import export_rows
from librarian.cli.opening import reached
from librarian.cli.resume import Bookmark
from librarian.cli.runtime import namespace_or, new_app, print_json, run_async, say, settings_for
from librarian.client import AsyncLibrarianClient
from librarian.contracts.items import IngestReport
from librarian.errors import InvalidInput
from librarian.importers.registry import AUTO, FORMATS
from librarian.importers.rows import Rows
from librarian.lines import numbered_lines
from librarian.rowmap import RowMap
from librarian.service import Librarian
from librarian.settings import Settings

app = new_app()

_STDIN = "-"
_CHUNK_BYTES = 256 * 1024
_SHOWN_FAILURES = 20
_Store = Callable[[Librarian | AsyncLibrarianClient], Awaitable[IngestReport]]


@app.command()
def ingest(
    file: Annotated[
        str, typer.Argument(metavar="PATH", help="A JSONL file, - for standard input, or an export: file, zip, folder.")
    ],
    namespace: Annotated[
        str | None, typer.Option("--namespace", "-n", help="Where rows go that name none; given, they all must.")
    ] = None,
    mapping: Annotated[
        str | None,
        typer.Option("--map", help="For rows of another shape: FILE.toml, a built-in map, or field=source,…"),
    ] = None,
    format_name: Annotated[
        str, typer.Option("--from", help=f"What an export comes from: {', '.join(sorted(FORMATS))}.")
    ] = AUTO,
    *,
    resume: Annotated[bool, typer.Option("--resume", help="Go on where an interrupted run ended.")] = False,
    no_embed: Annotated[bool, typer.Option("--no-embed", help="Leave the encoding to the service.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Store rows of a JSONL file, or what another program exported.

    Rows are messages, facts, memories and edges. The same input twice changes nothing. What cannot be taken is reported
    and loses nothing else; the exit code is 1 then.
    """

    async def work() -> int:
        settings = settings_for()
        asked = _Asked(file, namespace, mapping, format_name, resume)
        with _input(settings, asked) as store:
            async with reached(settings, "ingest") as librarian:
                report = await store(librarian)
                if isinstance(librarian, Librarian) and not no_embed:
                    report.pending_embeddings = await _embedded(librarian)
        if as_json:
            print_json(report)
        else:
            _show(report)
        return 1 if report.failed else 0

    run_async(work)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What the command line asks for, as it was given."""

    path: str
    namespace: str | None
    mapping: str | None
    format_name: str
    resume: bool


@contextmanager
def _input(settings: Settings, asked: _Asked) -> Iterator[_Store]:
    """How to store the input, while its files are open. Wrong input is said here, before anything starts."""
    where = namespace_or(asked.namespace, settings.namespace)
    if settings.remote.url is not None and asked.mapping is not None:
        raise InvalidInput(
            "rows are mapped only where the graph is", field="--map", remedy="Map them before, or run without --remote."
        )
    with _export(asked) as rows:
        if rows is None:
            yield partial(_stored, source=_source(settings, asked, where))
        else:
            yield partial(_imported, rows=rows, namespace=where)


def _export(asked: _Asked) -> AbstractContextManager[Rows | None]:
    """The rows of an export; None for standard input, a pipe (which can be read only once) and mapped rows."""
    path = Path(asked.path)
    if asked.format_name != AUTO:
        if asked.mapping is not None:
            raise InvalidInput("--from and --map exclude each other", field="--from")
        if asked.path == _STDIN:
            raise InvalidInput("standard input cannot be imported", field="--from", remedy="Name the file or folder.")
    elif asked.mapping is not None or asked.path == _STDIN or not (path.is_file() or path.is_dir()):
        return nullcontext()
    return export_rows(path, asked.format_name, resume=asked.resume)


@dataclass(slots=True)
class _Source:
    """One input and how to read it: rows up to `after_line` are settled; `line`, `offset` say how far it is."""

    file: BinaryIO
    size: int | None
    namespace: str
    any_namespace: bool
    mapping: RowMap | None
    bookmark: Bookmark | None
    after_line: int = 0
    line: int = 0
    offset: int = 0

    async def rows(self) -> AsyncIterator[tuple[int, bytes]]:
        """Numbered lines."""
        async for number, line in numbered_lines(self._chunks()):
            self.line = number
            yield number, line

    async def unsettled_rows(self) -> AsyncIterator[tuple[int, bytes]]:
        """Those that a service is still to get."""
        async for number, line in self.rows():
            if number > self.after_line:
                yield number, line

    def settled(self) -> None:
        """Everything handed out so far is stored or reported."""
        if self.bookmark is not None and self.line > self.after_line:
            self.bookmark.keep(self.line)

    async def _chunks(self) -> AsyncIterator[bytes]:
        while chunk := await asyncio.to_thread(self.file.read, _CHUNK_BYTES):
            self.offset += len(chunk)
            yield chunk


def _source(settings: Settings, asked: _Asked, namespace: str) -> _Source:
    any_namespace = asked.namespace is None
    row_map = None if asked.mapping is None else RowMap.parse(asked.mapping)
    if asked.path == _STDIN:
        if asked.resume:
            raise InvalidInput("standard input cannot be resumed", field="--resume", remedy="Name the file.")
        return _Source(sys.stdin.buffer, None, namespace, any_namespace, row_map, bookmark=None)
    path = Path(asked.path)
    bookmark = Bookmark.of(settings.home, path, namespace=namespace, mapping=asked.mapping)
    return _Source(
        path.open("rb"),
        bookmark.source.size,
        namespace,
        any_namespace,
        row_map,
        bookmark,
        after_line=_line_to_resume_after(bookmark) if asked.resume else 0,
    )


def _line_to_resume_after(bookmark: Bookmark) -> int:
    line, why_not = bookmark.last_line()
    say(f"Going on after line {line}." if line else f"Starting at the first line: {why_not}.")
    return line


async def _stored(librarian: Librarian | AsyncLibrarianClient, source: _Source) -> IngestReport:
    """Ingest and remember how far it came, whatever ends it."""
    last = IngestReport()
    with source.file, Bar("Storing", unit=DownloadColumn()) as bar:

        def progress(report: IngestReport) -> None:
            nonlocal last
            last = report
            source.settled()
            bar.update(source.offset, source.size)

        try:
            if isinstance(librarian, AsyncLibrarianClient):
                report = await librarian.ingest(source.unsettled_rows(), namespace=source.namespace)
            else:
                report = await librarian.ingest(
                    source.rows(),
                    namespace=source.namespace,
                    mapping=source.mapping,
                    any_namespace=source.any_namespace,
                    after_line=source.after_line,
                    on_progress=progress,
                )
        except BaseException:
            _say_what_is_kept(last, resumable=source.bookmark is not None)
            raise
    if source.bookmark is not None:
        source.bookmark.remove()
    return report


async def _imported(librarian: Librarian | AsyncLibrarianClient, rows: Rows, namespace: str) -> IngestReport:
    """Ingest an export; how much of it there is is not known before."""
    last = IngestReport()
    with Bar("Storing") as bar:

        def progress(report: IngestReport) -> None:
            nonlocal last
            last = report
            bar.update(rows.read, None)

        try:
            if isinstance(librarian, AsyncLibrarianClient):
                report = await librarian.ingest(rows.lines(), namespace=namespace)
            else:
                report = await librarian.ingest(rows.lines(), namespace=namespace, on_progress=progress)
        except BaseException:
            _say_what_is_kept(last, resumable=False)
            raise
    rows.complete(report)
    return report


async def _embedded(librarian: Librarian) -> int:
    """Encode what is pending; how many items still wait is returned."""
    with Bar("Encoding") as bar:
        await librarian.embed_pending(on_progress=bar.update)
    return await librarian.pending_embeddings()


def _say_what_is_kept(report: IngestReport, *, resumable: bool) -> None:
    kept = report.added + report.updated + report.unchanged
    again = "run it again with --resume" if resumable else "the same input again adds only the rest"
    say(f"Not finished. {kept} rows are stored; {again}.")


def _show(report: IngestReport) -> None:
    counts = ((report.added, report.updated, report.unchanged, report.failed),)
    table(("added", "updated", "unchanged", "failed"), counts)
    if report.errors:
        shown = report.errors[:_SHOWN_FAILURES]
        table(("line", "field", "code", "what is wrong"), [(e.line, e.field, e.code, e.message) for e in shown])
    if report.failed > _SHOWN_FAILURES:
        say(f"… and {report.failed - _SHOWN_FAILURES} more; --json lists up to 1000.")
    if report.pending_embeddings:
        say(f"{report.pending_embeddings} items wait for their vectors; keyword search finds them already.")
    for note in report.notes:
        say(note)
