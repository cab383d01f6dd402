"""`librarian ingest`: rows of a file, or another program's export, with the progress of interrupted runs."""

import asyncio
import hashlib
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import msgspec
import typer
from msgspec import Struct

from librarian.base.errors import InvalidInput
from librarian.base.lines import numbered_lines
from librarian.cli.display import Bar, table
from librarian.cli.lazy import deferred, new_app
from librarian.cli.opening import Connection, encode_pending, encoding, propose_pending, reached
from librarian.cli.options import EvenIfForgottenOption, NoEmbedOption
from librarian.cli.runtime import namespace_or, print_answer, run_async, say, settings_for
from librarian.cli.values import STDIN
from librarian.items.contracts import IngestReport

if TYPE_CHECKING:
    from librarian import client
    from librarian.base import keys
    from librarian.base.settings.settings import Settings
    from librarian.items import rowmap
    from librarian.items.importers import registry
    from librarian.items.importers import source as sources
    from librarian.items.importers.registry import Rows
else:
    client = deferred("librarian.client")
    keys = deferred("librarian.base.keys")
    rowmap = deferred("librarian.items.rowmap")
    registry, sources = (deferred(f"librarian.items.importers.{name}") for name in ("registry", "source"))

app = new_app()

_CHUNK_BYTES = 256 * 1024
_SHOWN_FAILURES = 20
# Names of the importers; a test compares them with their registry, which the help does not load.
FORMATS = ("chatgpt", "claude", "graphiti", "langmem", "letta", "markdown", "mcp-memory", "mem0", "slack")
AUTO = "auto"
_FOLDER = "ingest"
_FOLDER_MODE = 0o700
_NAME_CHARS = 24
_Store = Callable[[Connection], Awaitable[IngestReport]]


@app.command("ingest")
def ingest(
    file: Annotated[
        str, typer.Argument(metavar="PATH", help="A JSONL file, - for standard input, or an export: file, zip, folder.")
    ],
    namespace: Annotated[
        str | None, typer.Option("--namespace", "-n", help="For rows that name none; if given, all rows must match.")
    ] = None,
    mapping: Annotated[
        str | None,
        typer.Option("--map", help="For rows of another shape: FILE.toml, a built-in map, or field=source,…"),
    ] = None,
    format_name: Annotated[
        str, typer.Option("--from", help=f"Program that wrote the export: {', '.join(FORMATS)}.")
    ] = AUTO,
    *,
    resume: Annotated[bool, typer.Option("--resume", help="Continue an interrupted run.")] = False,
    even_if_forgotten: EvenIfForgottenOption = False,
    no_embed: NoEmbedOption = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Store the rows of a JSONL file, or another program's export.

    Rows are messages, facts, memories and edges. Repeating an input changes nothing. Rejected rows are reported and do
    not affect the others; the exit code is then 1.
    """

    async def work() -> int:
        settings, request = settings_for(), _Request(file, namespace, mapping, format_name, resume, even_if_forgotten)
        with _input(settings, request) as store:
            async with reached(settings, "ingest") as librarian:
                async with encoding(librarian, unless=no_embed) as before:
                    report = await store(librarian)
                    await propose_pending(librarian)
                waiting = await encode_pending(librarian, unless=no_embed, before=before)
                if waiting is not None:
                    report.pending_embeddings = waiting
        print_answer(report, _show, as_json=as_json)
        return 1 if report.failed else 0

    run_async(work)


@dataclass(frozen=True, slots=True)
class _Request:
    """The options of the command."""

    path: str
    namespace: str | None
    mapping: str | None
    format_name: str
    resume: bool
    even_if_forgotten: bool


@contextmanager
def _input(settings: "Settings", request: _Request) -> Iterator[_Store]:
    """Yield the way to store the input, with its files open. Raises InvalidInput before anything starts."""
    where = namespace_or(request.namespace, settings.namespace)
    if settings.remote.url is not None and request.mapping is not None:
        raise InvalidInput(
            "rows can be mapped only on the machine of the graph",
            field="--map",
            remedy="Map them first, or omit --remote.",
        )
    with _export(request) as rows:
        if rows is None:
            source = _source(settings, request, where)
            yield partial(_stored, source=source, even_if_forgotten=request.even_if_forgotten)
        else:
            yield partial(_imported, rows=rows, namespace=where, even_if_forgotten=request.even_if_forgotten)


def _export(request: _Request) -> "AbstractContextManager[Rows | None]":
    """Yield the rows of an export; None for standard input, a pipe (which can be read only once) and mapped rows."""
    path = Path(request.path)
    if request.format_name != AUTO:
        if request.mapping is not None:
            raise InvalidInput("--from and --map exclude each other", field="--from")
        if request.path == STDIN:
            raise InvalidInput("standard input cannot be imported", field="--from", remedy="Name the file or folder.")
    elif request.mapping is not None or request.path == STDIN or not (path.is_file() or path.is_dir()):
        return nullcontext()
    return export_rows(path, request.format_name, resume=request.resume)


class IngestProgress(Struct, frozen=True, kw_only=True):
    """A source, how it was read, and the last line up to which all rows are settled."""

    path: str
    size: int
    mtime_ns: int
    namespace: str
    map: str | None
    line: int = 0


@dataclass(frozen=True, slots=True)
class Bookmark:
    """The progress file of one source (path, namespace and map)."""

    file: Path
    source: IngestProgress

    @classmethod
    def of(cls, home: Path, source: Path, *, namespace: str, mapping: str | None) -> "Bookmark":
        """Return the bookmark of the current state of `source`."""
        path, found = source.resolve(), source.stat()
        identity = "\0".join((str(path), namespace, mapping or ""))
        name = hashlib.sha256(identity.encode("utf-8", "surrogateescape")).hexdigest()[:_NAME_CHARS]
        progress = IngestProgress(
            path=str(path), size=found.st_size, mtime_ns=found.st_mtime_ns, namespace=namespace, map=mapping
        )
        return cls(home / _FOLDER / f"{name}.json", progress)

    def last_line(self) -> tuple[int, str]:
        """Return the line to continue after, and, if that is 0, why the file is read from its start."""
        try:
            kept = msgspec.json.decode(self.file.read_bytes(), type=IngestProgress)
        except FileNotFoundError:
            return 0, "no unfinished ingest of this file is known"
        except msgspec.DecodeError:
            return 0, "the record of the last ingest is damaged"
        if (kept.size, kept.mtime_ns) != (self.source.size, self.source.mtime_ns):
            return 0, "the file has changed since"
        return kept.line, ""

    def keep(self, line: int) -> None:
        """Record that everything up to `line` is settled."""
        self.file.parent.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
        keys.write_private(self.file, msgspec.json.encode(msgspec.structs.replace(self.source, line=line)))

    def remove(self) -> None:
        """Delete the record, as the ingest is complete."""
        self.file.unlink(missing_ok=True)


@dataclass(slots=True)
class _Source:
    """One input and how to read it: rows up to `after_line` are settled; `line` and `offset` are the position."""

    file: BinaryIO
    size: int | None
    namespace: str
    any_namespace: bool
    mapping: "rowmap.RowMap | None"
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
        """Yield the rows that the service has not received."""
        async for number, line in self.rows():
            if number > self.after_line:
                yield number, line

    def settled(self) -> None:
        """Record that all rows yielded so far are stored or reported."""
        if self.bookmark is not None and self.line > self.after_line:
            self.bookmark.keep(self.line)

    async def _chunks(self) -> AsyncIterator[bytes]:
        while chunk := await asyncio.to_thread(self.file.read, _CHUNK_BYTES):
            self.offset += len(chunk)
            yield chunk


def _source(settings: "Settings", request: _Request, namespace: str) -> _Source:
    any_namespace = request.namespace is None
    row_map = None if request.mapping is None else rowmap.RowMap.parse(request.mapping)
    if request.path == STDIN:
        if request.resume:
            raise InvalidInput("standard input cannot be resumed", field="--resume", remedy="Name the file.")
        return _Source(sys.stdin.buffer, None, namespace, any_namespace, row_map, bookmark=None)
    path = Path(request.path)
    bookmark = Bookmark.of(settings.home, path, namespace=namespace, mapping=request.mapping)
    return _Source(
        path.open("rb"),
        bookmark.source.size,
        namespace,
        any_namespace,
        row_map,
        bookmark,
        after_line=_line_to_resume_after(bookmark) if request.resume else 0,
    )


def _line_to_resume_after(bookmark: Bookmark) -> int:
    line, why_not = bookmark.last_line()
    say(f"Going on after line {line}." if line else f"Starting at the first line: {why_not}.")
    return line


async def _stored(librarian: Connection, source: _Source, *, even_if_forgotten: bool) -> IngestReport:
    """Ingest rows and record the progress, whatever ends it."""
    last = IngestReport()
    with source.file, Bar("Storing", in_bytes=True) as bar:

        def progress(report: IngestReport) -> None:
            nonlocal last
            last = report
            source.settled()
            bar.update(source.offset, source.size)

        try:
            if isinstance(librarian, client.AsyncLibrarianClient):
                report = await librarian.ingest(
                    source.unsettled_rows(), namespace=source.namespace, even_if_forgotten=even_if_forgotten
                )
            else:
                report = await librarian.ingest(
                    source.rows(),
                    namespace=source.namespace,
                    mapping=source.mapping,
                    any_namespace=source.any_namespace,
                    after_line=source.after_line,
                    even_if_forgotten=even_if_forgotten,
                    on_progress=progress,
                )
        except BaseException:
            _say_what_is_kept(last, resumable=source.bookmark is not None)
            raise
    if source.bookmark is not None:
        source.bookmark.remove()
    return report


async def _imported(librarian: Connection, rows: "Rows", namespace: str, *, even_if_forgotten: bool) -> IngestReport:
    """Ingest an export, whose size is not known in advance."""
    last = IngestReport()
    with Bar("Storing") as bar:

        def progress(report: IngestReport) -> None:
            nonlocal last
            last = report
            bar.update(rows.read, None)

        try:
            if isinstance(librarian, client.AsyncLibrarianClient):
                report = await librarian.ingest(rows.lines(), namespace=namespace, even_if_forgotten=even_if_forgotten)
            else:
                report = await librarian.ingest(
                    rows.lines(), namespace=namespace, even_if_forgotten=even_if_forgotten, on_progress=progress
                )
        except BaseException:
            _say_what_is_kept(last, resumable=False)
            raise
    rows.complete(report)
    return report


def _say_what_is_kept(report: IngestReport, *, resumable: bool) -> None:
    kept = report.added + report.updated + report.unchanged
    again = "run it again with --resume" if resumable else "the same input again adds only the rest"
    say(f"Not finished. {kept} rows are stored; {again}.")


def _show(report: IngestReport) -> None:
    counts = ((report.added, report.updated, report.unchanged, report.failed),)
    table(("added", "updated", "unchanged", "failed"), counts)
    if report.errors:
        shown = report.errors[:_SHOWN_FAILURES]
        table(
            ("line", "field", "code", "what is wrong"),
            [(fault.line, fault.field, fault.code, fault.message) for fault in shown],
        )
    if report.failed > _SHOWN_FAILURES:
        say(f"… and {report.failed - _SHOWN_FAILURES} more; --json lists up to 1000.")
    if report.pending_embeddings:
        say(f"{report.pending_embeddings} items wait for their vectors; keyword search finds them already.")
    for note in report.notes:
        say(note)


# Exports.


@contextmanager
def export_rows(path: Path, format_name: str, *, resume: bool) -> "Iterator[Rows | None]":
    """Yield the rows of an export while its files are open; None for a file to be read as rows, one per line.

    `auto` accepts a folder, an archive, and a file that an importer recognises. Raises InvalidInput if no importer can
    read it.
    """
    with sources.opened(path) as opened:
        found = _recognised(opened) if format_name == AUTO else format_name
        if found is not None and resume:
            raise InvalidInput(
                "only a file of rows can be resumed", field="--resume", remedy="Run it again: only the rest is added."
            )
        yield None if found is None else registry.rows(found, opened)


def _recognised(opened: "sources.Source") -> str | None:
    found = registry.detect(opened)
    if found is not None:
        say(f"Reading {opened.name} as {found}.")
    return AUTO if found is None and not opened.single else found
