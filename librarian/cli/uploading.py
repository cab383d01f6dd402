"""Indexing a folder of this machine in the graph of a service: what changed is uploaded, what is gone is deleted."""

import asyncio
import hashlib
import socket
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from librarian.client import AsyncLibrarianClient
from librarian.contracts.files import FileListQuery, FileOut, IndexReport, SkippedPath
from librarian.files.reading import OVERSIZED, UNREADABLE
from librarian.files.walking import Found, Skipped, walk

_PAGE = 5_000
_EXAMPLES = 100


async def upload_tree(
    client: AsyncLibrarianClient,
    namespace: str,
    root: Path,
    max_bytes: int,
    *,
    paths_only: bool,
    on_progress: Callable[[int, int], None],
) -> IndexReport:
    """Upload the files of `root` that the service does not have as they are; with `paths_only` their bytes stay here.

    Files that an earlier run uploaded from here and that are gone are deleted.
    """
    started = time.perf_counter()
    place = await asyncio.to_thread(root.resolve)
    origin = f"{socket.gethostname()}:{place.as_posix()}"
    report = IndexReport(root=origin)
    known = {file.path: file async for file in _stored(client, namespace)}
    found = await asyncio.to_thread(_walked, place, report)
    for number, one in enumerate(found):
        on_progress(number, len(found))
        data = await asyncio.to_thread(_read, place / one.path, max_bytes, report, one.path)
        if data is not None:
            await _upload(client, namespace, one.path, b"" if paths_only else data, origin, known, report)
    ours = {path for path, file in known.items() if file.root == origin}
    for path in sorted(ours - {one.path for one in found}):
        await client.delete_file(namespace, path)
        report.deleted += 1
    report.files = len(found)
    report.seconds = round(time.perf_counter() - started, 3)
    return report


async def _stored(client: AsyncLibrarianClient, namespace: str) -> AsyncIterator[FileOut]:
    after, more = "", True
    while more:
        page = await client.list_files(namespace, FileListQuery(after=after, limit=_PAGE))
        for file in page.files:
            yield file
        after, more = (page.files[-1].path, page.more) if page.files else ("", False)


async def _upload(
    client: AsyncLibrarianClient,
    namespace: str,
    path: str,
    data: bytes,
    origin: str,
    known: dict[str, FileOut],
    report: IndexReport,
) -> None:
    before = known.get(path)
    if before is not None and before.sha256 == hashlib.sha256(data).hexdigest() and before.root == origin:
        report.unchanged += 1
        return
    put = await client.put_file(namespace, path, data, root=origin)
    report.bytes += len(data)
    match put.outcome:
        case "added":
            report.added += 1
        case "updated":
            report.updated += 1
        case "unchanged":
            report.unchanged += 1
    if put.file.unread:
        _note(report.unread, report, path, put.file.unread)


def _walked(root: Path, report: IndexReport) -> list[Found]:
    found = []
    for one in walk(root):
        if isinstance(one, Skipped):
            _note(report.skipped, report, one.path, one.reason)
        else:
            found.append(one)
    return found


def _read(file: Path, max_bytes: int, report: IndexReport, path: str) -> bytes | None:
    try:
        data = file.read_bytes() if file.stat().st_size <= max_bytes else None
    except OSError:
        _note(report.skipped, report, path, UNREADABLE)
        return None
    if data is None:
        _note(report.skipped, report, path, OVERSIZED)
    return data


def _note(counts: dict[str, int], report: IndexReport, path: str, reason: str) -> None:
    counts[reason] = Counter(counts)[reason] + 1
    if len(report.examples) < _EXAMPLES:
        report.examples.append(SkippedPath(path=path, reason=reason))
