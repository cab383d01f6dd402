"""Files: finds and reads them, and indexes a folder locally or by uploading it to a service."""

import asyncio
import hashlib
import re
import socket
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from librarian.base.errors import InvalidInput
from librarian.cli.asking import ask, question
from librarian.cli.display import Bar, printable, table
from librarian.cli.lazy import deferred, new_app
from librarian.cli.opening import Connection, answering, answering_without_encoder, encode_pending, reached
from librarian.cli.options import JsonOption, NamespaceOption, NoEmbedOption
from librarian.cli.runtime import namespace_or, print_answer, run_async, say, settings_for
from librarian.files.contracts import (
    FileListQuery,
    FileOut,
    FileSpan,
    FindFileInput,
    FindFileOutput,
    IndexReport,
    LocateInput,
    LocateOutput,
    SearchTextInput,
    SearchTextOutput,
    SkippedPath,
    SpanQuery,
    StaleList,
    StaleQuery,
)

if TYPE_CHECKING:
    from librarian import client
    from librarian.files import reading, text, walking
else:
    client = deferred("librarian.client")
    reading, text, walking = (deferred(f"librarian.files.{name}") for name in ("reading", "text", "walking"))

app = new_app()

_SPAN = re.compile(r"(?P<path>.+?)(?::|#L)(?P<start>[0-9]{1,9})(?:-L?(?P<end>[0-9]{1,9}))?:?", re.DOTALL)
_STALE_STATES = {"changed": "was changed", "gone": "is gone with its file", "not_found": "was never found"}
_SHOWN_EXAMPLES = 20
_PAGE = 5_000
_MAX_EXAMPLES = 100


def show_paths(found: FindFileOutput) -> None:
    """Print paths, best first."""
    for path in found.paths:
        typer.echo(printable(path))
    if not found.paths:
        say(f"No file has this name in namespace {found.namespace!r}.")


def show_lines(found: SearchTextOutput) -> None:
    """Print matching lines with their context, as grep does."""
    for hit in found.hits:
        for line in text.hit_lines(hit):
            typer.echo(printable(line))
    if not found.hits:
        say(f"No line matches in namespace {found.namespace!r}.")
    if found.more:
        of = "" if found.total is None else f" of {found.total}"
        say(f"{len(found.hits)}{of} lines; --limit shows more, --cursor {found.next_cursor} the next.")
    for note in found.notes:
        say(note)


def show_locations(found: LocateOutput) -> None:
    """Print lines, paths and parts of files, and how the query was interpreted."""
    say(f"{found.shape}: {found.why}.")
    parts = [f"{part.path}:{part.start}-{part.end}" for part in found.parts]
    for line in [*found.lines, *found.paths, *parts]:
        typer.echo(printable(line))
    if not (found.lines or found.paths or parts):
        say(f"Nothing found in namespace {found.namespace!r}.")


def show_stale(found: StaleList) -> None:
    """Print items whose evidence in files is no longer valid."""
    for item in found.stale:
        location = f"{item.path}:{item.start}-{item.end}"
        typer.echo(printable(f"{item.uid} ({item.kind}: {item.name}): {location} {_STALE_STATES[item.state]}"))
    if not found.stale:
        say(f"All evidence in files is valid in namespace {found.namespace!r}.")
    if found.more:
        say("There is more; --limit shows it.")


question(app, "find-file", FindFileInput, show_paths)
question(app, "search-text", SearchTextInput, show_lines)
question(app, "locate", LocateInput, show_locations, reach=answering)
question(app, "stale", StaleQuery, show_stale)


@app.command("open")
def open_file(
    location: Annotated[str, typer.Argument(metavar="PATH[:LINE[-LINE]]", help="A file, a line of it, or lines.")],
    namespace: NamespaceOption = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Print the stored lines of a file."""
    path, span = span_of(location)
    ask(
        lambda librarian, where: librarian.open_file(where, path, span),
        namespace,
        _show_span,
        purpose="open",
        reach=answering_without_encoder,
        as_json=as_json,
    )


def span_of(location: str) -> tuple[str, SpanQuery]:
    """Return path and lines of `path`, `path:12` or `path:12-20`, also written `path#L12-L20`."""
    found = _SPAN.fullmatch(location)
    if found is None or int(found["start"]) == 0:
        return location, SpanQuery()
    start = int(found["start"])
    return found["path"], SpanQuery(start=start, end=int(found["end"] or start))


def _show_span(span: FileSpan) -> None:
    if span.text:
        typer.echo(printable(span.text))
    if span.end < span.lines:
        say(f"Lines {span.start} to {span.end} of {span.lines}.")


@app.command("index")
def index(
    root: Annotated[Path, typer.Argument(metavar="PATH", help="The folder.")],
    namespace: NamespaceOption = None,
    *,
    watch: Annotated[bool, typer.Option("--watch", help="Continue and follow every change until Ctrl-C.")] = False,
    no_embed: NoEmbedOption = False,
    paths_only: Annotated[bool, typer.Option("--paths-only", help="Only paths: files are found by name.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Index the files below a folder, only changed ones.

    Files in .gitignore and .ignore, hidden names and folders of dependencies are skipped. Repeating an interrupted
    command does the rest. With --remote the files are uploaded.
    """

    async def work() -> None:
        settings = settings_for()
        where = namespace_or(namespace, settings.namespace)
        if watch and paths_only:
            raise InvalidInput("--watch and --paths-only exclude each other", field="--watch")
        if not root.is_dir():
            raise InvalidInput("there is no such folder", field="PATH")
        async with reached(settings, "index") as librarian:
            if watch:
                await _watch(librarian, where, root, no_embed=no_embed)
                return
            report = await _indexed(librarian, where, root, settings.files.max_bytes, paths_only=paths_only)
            waiting = await encode_pending(librarian, unless=no_embed)
            if waiting is not None:
                report.pending_embeddings = waiting
            print_answer(report, _show_report, as_json=as_json)

    run_async(work)


async def _indexed(
    librarian: Connection, namespace: str, root: Path, max_bytes: int, *, paths_only: bool
) -> IndexReport:
    with Bar("Indexing") as bar:
        if isinstance(librarian, client.AsyncLibrarianClient):
            return await upload_tree(
                librarian, namespace, root, max_bytes, paths_only=paths_only, on_progress=bar.update
            )
        return await librarian.index_files(namespace, root, paths_only=paths_only, on_progress=bar.update)


async def _watch(librarian: Connection, namespace: str, root: Path, *, no_embed: bool) -> None:
    """Follow the folder, encoding in parallel."""
    if isinstance(librarian, client.AsyncLibrarianClient):
        raise InvalidInput("a folder can be followed only on the machine of the graph", field="--watch")
    encoding = None if no_embed else asyncio.create_task(librarian.work())
    try:
        with Bar("Indexing") as bar:
            following = librarian.watch_files(namespace, root, on_indexed=_show_report, on_progress=bar.update)
            async for paths in following:
                for path in paths:
                    say(f"indexed {printable(path) or 'everything'}")
    finally:
        if encoding is not None:
            encoding.cancel()
            await asyncio.gather(encoding, return_exceptions=True)


def _show_report(report: IndexReport) -> None:
    counts = ((report.files, report.added, report.updated, report.unchanged, report.deleted),)
    table(("files", "added", "updated", "unchanged", "deleted"), counts)
    for what, reasons in (("found by name only", report.unread), ("left out", report.skipped)):
        if reasons:
            counted = ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
            say(f"{what}: {counted}")
    for example in report.examples[:_SHOWN_EXAMPLES]:
        say(f"  {example.reason}: {printable(example.path)}")
    if len(report.examples) > _SHOWN_EXAMPLES:
        say(f"  … --json lists up to {len(report.examples)}.")
    for note in report.notes:
        say(printable(note))
    if report.pending_embeddings:
        say(f"{report.pending_embeddings} items wait for their vectors; names and texts find them already.")


async def upload_tree(
    remote: "client.AsyncLibrarianClient",
    namespace: str,
    root: Path,
    max_bytes: int,
    *,
    paths_only: bool,
    on_progress: Callable[[int, int], None],
) -> IndexReport:
    """Upload new and changed files of `root` to the service; with `paths_only`, without their contents.

    Files uploaded from here by an earlier run that no longer exist are deleted.
    """
    started = time.perf_counter()
    folder = await asyncio.to_thread(root.resolve)
    origin = f"{socket.gethostname()}:{folder.as_posix()}"
    report = IndexReport(root=origin)
    stored = {file.path: file async for file in _stored_files(remote, namespace)}
    found = await asyncio.to_thread(_files_below, folder, report)
    for number, path in enumerate(found):
        on_progress(number, len(found))
        data = await asyncio.to_thread(_read, folder / path, max_bytes, report, path)
        if data is not None:
            await _upload(remote, namespace, path, b"" if paths_only else data, origin, stored.get(path), report)
    ours = {path for path, file in stored.items() if file.root == origin}
    for path in sorted(ours - set(found)):
        await remote.delete_file(namespace, path)
        report.deleted += 1
    report.files = len(found)
    report.seconds = round(time.perf_counter() - started, 3)
    return report


async def _stored_files(remote: "client.AsyncLibrarianClient", namespace: str) -> AsyncIterator[FileOut]:
    after, more = "", True
    while more:
        page = await remote.list_files(namespace, FileListQuery(after=after, limit=_PAGE))
        for file in page.files:
            yield file
        after, more = (page.files[-1].path, page.more) if page.files else ("", False)


async def _upload(
    remote: "client.AsyncLibrarianClient",
    namespace: str,
    path: str,
    data: bytes,
    origin: str,
    before: FileOut | None,
    report: IndexReport,
) -> None:
    if before is not None and before.sha256 == hashlib.sha256(data).hexdigest() and before.root == origin:
        report.unchanged += 1
        return
    put = await remote.put_file(namespace, path, data, root=origin)
    report.bytes += len(data)
    match put.outcome:
        case "added":
            report.added += 1
        case "updated":
            report.updated += 1
        case "unchanged":
            report.unchanged += 1
    report.notes += put.notes
    if put.file.unread:
        _count(report.unread, report, path, put.file.unread)


def _files_below(root: Path, report: IndexReport) -> list[str]:
    """Return the paths of the files to upload; skipped ones are counted in the report."""
    paths = []
    for entry in walking.walk(root):
        if isinstance(entry, walking.Skipped):
            _count(report.skipped, report, entry.path, entry.reason)
        else:
            paths.append(entry.path)
    return paths


def _read(file: Path, max_bytes: int, report: IndexReport, path: str) -> bytes | None:
    try:
        data = file.read_bytes() if file.stat().st_size <= max_bytes else None
    except OSError:
        _count(report.skipped, report, path, reading.UNREADABLE)
        return None
    if data is None:
        _count(report.skipped, report, path, reading.OVERSIZED)
    return data


def _count(counts: dict[str, int], report: IndexReport, path: str, reason: str) -> None:
    counts[reason] = Counter(counts)[reason] + 1
    if len(report.examples) < _MAX_EXAMPLES:
        report.examples.append(SkippedPath(path=path, reason=reason))
