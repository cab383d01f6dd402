"""`librarian ingest`."""

import asyncio
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, BinaryIO

import typer
from rich.progress import DownloadColumn

from librarian.cli.display import Bar, table
from librarian.cli.opening import opened
from librarian.cli.resume import Bookmark
from librarian.cli.runtime import namespace_or, new_app, print_json, run_async, say, settings_for
from librarian.contracts.items import IngestReport
from librarian.errors import InvalidInput
from librarian.lines import numbered_lines
from librarian.rowmap import RowMap
from librarian.service import Librarian
from librarian.settings import Settings

app = new_app()

_STDIN = "-"
_CHUNK_BYTES = 256 * 1024
_SHOWN_FAILURES = 20


@app.command()
def ingest(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A JSONL file, or - for standard input.")],
    namespace: Annotated[
        str | None, typer.Option("--namespace", "-n", help="Where rows go that name none; given, they all must.")
    ] = None,
    mapping: Annotated[
        str | None,
        typer.Option("--map", help="For rows of another shape: FILE.toml, a built-in map, or field=source,…"),
    ] = None,
    *,
    resume: Annotated[bool, typer.Option("--resume", help="Go on where an interrupted run ended.")] = False,
    no_embed: Annotated[bool, typer.Option("--no-embed", help="Leave the encoding to the service.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Store messages, facts, memories and edges of a JSONL file.

    The same file twice changes nothing. Rows that cannot be taken are reported and lose nothing else; the exit code is
    1 then.
    """

    async def work() -> int:
        settings = settings_for()
        source = _source(settings, file, namespace, mapping, resume=resume)
        async with opened(settings, "ingest") as librarian:
            report = await _stored(librarian, source)
            if not no_embed:
                report.pending_embeddings = await _embedded(librarian)
        if as_json:
            print_json(report)
        else:
            _show(report)
        return 1 if report.failed else 0

    run_async(work)


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

    def settled(self) -> None:
        """Everything handed out so far is stored or reported."""
        if self.bookmark is not None and self.line > self.after_line:
            self.bookmark.keep(self.line)

    async def _chunks(self) -> AsyncIterator[bytes]:
        while chunk := await asyncio.to_thread(self.file.read, _CHUNK_BYTES):
            self.offset += len(chunk)
            yield chunk


def _source(settings: Settings, file: str, namespace: str | None, mapping: str | None, *, resume: bool) -> _Source:
    where = namespace_or(namespace, settings.namespace)
    row_map = None if mapping is None else RowMap.parse(mapping)
    if file == _STDIN:
        if resume:
            raise InvalidInput("standard input cannot be resumed", field="--resume", remedy="Name the file.")
        return _Source(sys.stdin.buffer, None, where, namespace is None, row_map, bookmark=None)
    path = Path(file)
    bookmark = Bookmark.of(settings.home, path, namespace=where, mapping=mapping)
    return _Source(
        path.open("rb"),
        bookmark.source.size,
        where,
        namespace is None,
        row_map,
        bookmark,
        after_line=_line_to_resume_after(bookmark) if resume else 0,
    )


def _line_to_resume_after(bookmark: Bookmark) -> int:
    line, why_not = bookmark.last_line()
    say(f"Going on after line {line}." if line else f"Starting at the first line: {why_not}.")
    return line


async def _stored(librarian: Librarian, source: _Source) -> IngestReport:
    """Ingest and remember how far it came, whatever ends it."""
    last = IngestReport()
    with source.file, Bar("Storing", unit=DownloadColumn()) as bar:

        def progress(report: IngestReport) -> None:
            nonlocal last
            last = report
            source.settled()
            bar.update(source.offset, source.size)

        try:
            report = await librarian.ingest(
                source.rows(),
                namespace=source.namespace,
                mapping=source.mapping,
                any_namespace=source.any_namespace,
                after_line=source.after_line,
                on_progress=progress,
            )
        except BaseException:
            _say_what_is_kept(last, source)
            raise
    if source.bookmark is not None:
        source.bookmark.remove()
    return report


async def _embedded(librarian: Librarian) -> int:
    """Encode what is pending; how many items still wait is returned."""
    with Bar("Encoding") as bar:
        await librarian.embed_pending(on_progress=bar.update)
    return await librarian.pending_embeddings()


def _say_what_is_kept(report: IngestReport, source: _Source) -> None:
    kept = report.added + report.updated + report.unchanged
    again = "run it again with --resume" if source.bookmark is not None else "the same input again adds only the rest"
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
