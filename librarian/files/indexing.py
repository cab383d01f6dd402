"""Indexing a source tree: paths first, then contents, only changes; uploading one file; deleting files."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TypeVar

import structlog

from graph.executor import Executor
from graph.files import (
    FileContent,
    KnownFile,
    delete_files,
    get_files,
    known_files,
    list_files,
    paths_below,
    put_files,
    touch_files,
)
from librarian.base.errors import Forbidden, InvalidInput, NotFound
from librarian.base.overlap import one_ahead
from librarian.files.contracts import FileList, FileListQuery, FileOut, IndexReport, PutFileOutput, SkippedPath
from librarian.files.loading import Loader
from librarian.files.storing import refusal, store
from librarian.files.walking import FileEntry, Skipped, look, walk

T = TypeVar("T")
log = structlog.get_logger("librarian.files")

UPLOADED = ""
"""The root of files that were uploaded without a folder."""

OTHER_ROOT = "belongs_to_another_root"
_PATHS_AT_ONCE = 1_000
_DELETED_AT_ONCE = 100
_BATCH_FILES = 250
_BATCH_BYTES = 1_000_000
_EXAMPLES = 100

OnProgress = Callable[[int, int], None]


def _silent(_done: int, _total: int) -> None:
    """Default progress."""


@dataclass(slots=True)
class IndexRun:
    """One run over a folder. Safe to interrupt and to run concurrently: the next run completes the rest."""

    executor: Executor
    namespace: str
    root: Path
    loader: Loader
    paths_only: bool = False
    on_progress: OnProgress = _silent
    report: IndexReport = field(default_factory=IndexReport)
    _known: dict[str, KnownFile] = field(default_factory=dict)
    _unread: Counter[str] = field(default_factory=Counter)
    _skipped: Counter[str] = field(default_factory=Counter)

    async def run(self) -> IndexReport:
        """Bring the graph up to date with the folder. Raises InvalidInput if the folder does not exist."""
        started = time.perf_counter()
        if not await asyncio.to_thread(self.root.is_dir):
            raise InvalidInput("no folder is there", field="root")
        self._known = {file.path: file async for file in known_files(self.executor, self.namespace)}
        seen, changed = await self._put_paths()
        await self._delete_vanished(seen)
        if not self.paths_only:
            await self._put_contents(changed)
        self.report.root = str(self.root)
        self.report.files = len(seen)
        self.report.unchanged = len(seen) - self.report.added - self.report.updated
        self.report.unread, self.report.skipped = dict(self._unread), dict(self._skipped)
        self.report.seconds = round(time.perf_counter() - started, 3)
        return self.report

    async def _put_paths(self) -> tuple[set[str], list[FileEntry]]:
        """Store new paths; return all paths of the folder, and the files whose contents may have changed."""
        seen: set[str] = set()
        changed: list[FileEntry] = []
        walked = walk(self.root)
        while batch := await asyncio.to_thread(_taken, walked, _PATHS_AT_ONCE):
            files = [found for found in batch if isinstance(found, FileEntry) and self._is_ours(found.path)]
            for skipped in batch:
                if isinstance(skipped, Skipped):
                    self._note(self._skipped, skipped.path, skipped.reason)
            new = [found for found in files if self._is_new(found.path)]
            if new:
                await put_files(
                    self.executor,
                    self.namespace,
                    [
                        self.loader.new_file(entry.path, root=str(self.root), size=entry.size, mtime_ns=entry.mtime_ns)
                        for entry in new
                    ],
                )
            self.report.added += sum(found.path not in self._known for found in new)
            seen.update(found.path for found in files)
            changed += [found for found in files if self._may_differ(found)]
            self.on_progress(0, len(seen))
        return seen, changed

    async def _delete_vanished(self, seen: set[str]) -> None:
        roots = {file.root for file in self._known.values()}
        gone_roots = {root for root in roots if root not in (UPLOADED, str(self.root)) and self._replaces(root)}
        ours = {str(self.root), *gone_roots}
        gone = sorted(path for path, file in self._known.items() if file.root in ours and path not in seen)
        for start in range(0, len(gone), _DELETED_AT_ONCE):
            self.report.deleted += await delete_files(
                self.executor, self.namespace, gone[start : start + _DELETED_AT_ONCE]
            )

    async def _put_contents(self, changed: Sequence[FileEntry]) -> None:
        """Store contents in batches; the next batch is read while one is stored."""
        done = 0
        batches = (_load_all(self.loader, self.root, batch) for batch in _batches(changed))
        async with aclosing(one_ahead(lambda: asyncio.to_thread(next, batches, None))) as loaded:
            async for contents in loaded:
                done += len(contents)
                await self._store([content for content in contents if content is not None])
                self.on_progress(done, len(changed))

    async def _store(self, contents: Sequence[FileContent]) -> None:
        same = [content for content in contents if self._is_stored(content)]
        if same:
            await touch_files(self.executor, self.namespace, same)
        other = [content for content in contents if not self._is_stored(content)]
        refused: list[FileContent] = []
        if other:
            stored = await store(self.executor, self.namespace, other)
            self.report.chunks += stored.added
            self.report.held_back += stored.held_back
            refused = stored.refused
        for content in contents:
            self.report.bytes += content.size
        for content in [*contents, *refused]:
            if content.unread:
                self._note(self._unread, content.path, content.unread)
        self.report.notes += [refusal(content) for content in refused]
        again = {content.path for content in refused}
        self.report.updated += sum(self._had_contents(one.path) for one in other if one.path not in again)

    def _is_ours(self, path: str) -> bool:
        known = self._known.get(path)
        if known is None or known.root == str(self.root) or self._replaces(known.root):
            return True
        self._note(self._skipped, path, OTHER_ROOT)
        return False

    def _replaces(self, root: str) -> bool:
        """Return whether another run's folder no longer exists, so that this one replaces it."""
        return root != UPLOADED and Path(root).is_absolute() and not Path(root).exists()

    def _is_new(self, path: str) -> bool:
        known = self._known.get(path)
        return known is None or known.root != str(self.root)

    def _may_differ(self, found: FileEntry) -> bool:
        known = self._known.get(found.path)
        if known is None or known.sha256 is None:
            return True
        if known.unread and (known.size, known.mtime_ns) == (found.size, found.mtime_ns):
            self._note(self._unread, found.path, known.unread)
        return (known.size, known.mtime_ns) != (found.size, found.mtime_ns)

    def _is_stored(self, content: FileContent) -> bool:
        known = self._known.get(content.path)
        return known is not None and (known.sha256, known.unread) == (content.sha256, content.unread)

    def _had_contents(self, path: str) -> bool:
        known = self._known.get(path)
        return known is not None and known.sha256 is not None

    def _note(self, counts: Counter[str], path: str, reason: str) -> None:
        counts[reason] += 1
        if len(self.report.examples) < _EXAMPLES:
            self.report.examples.append(SkippedPath(path=path, reason=reason))


async def update_path(executor: Executor, namespace: str, root: Path, loader: Loader, path: str) -> None:
    """Bring one file or folder of an indexed root up to date: changed, new, or deleted."""
    found = await asyncio.to_thread(look, root, path)
    below = [entry for entry in await asyncio.to_thread(_taken, walk(root, path), None) if isinstance(entry, FileEntry)]
    there = [found] if isinstance(found, FileEntry) else below if found is None else []
    before = {path, *await paths_below(executor, namespace, str(root), path)}
    gone = sorted(before - {entry.path for entry in there})
    await delete_files(executor, namespace, gone)
    for batch in _batches(there):
        contents = [
            content for content in await asyncio.to_thread(_load_all, loader, root, batch) if content is not None
        ]
        await put_files(
            executor,
            namespace,
            [loader.new_file(entry.path, root=str(root), size=entry.size, mtime_ns=entry.mtime_ns) for entry in batch],
        )
        for refused in (await store(executor, namespace, contents)).refused:
            log.warning("file is found by name only", reason=refused.unread, size=refused.size)


async def put_file(
    executor: Executor, namespace: str, loader: Loader, path: str, data: bytes, root: str = UPLOADED
) -> PutFileOutput:
    """Store one uploaded file. Raises InvalidInput for a path that leaves its root."""
    checked_path(path)
    before = (await get_files(executor, namespace, [path])).get(path)
    content = await asyncio.to_thread(loader.content, path, data, 0)
    if before is not None and (before.sha256, before.unread) == (content.sha256, content.unread):
        return PutFileOutput(outcome="unchanged", file=file_out(before))
    new = loader.new_file(path, root=root, size=content.size, mtime_ns=0)
    await put_files(executor, namespace, [new])
    stored = await store(executor, namespace, [content])
    after = (await get_files(executor, namespace, [path])).get(path)
    if after is None:
        raise NotFound("the file was deleted at the same time", field="path")
    return PutFileOutput(
        outcome="updated" if before else "added",
        file=file_out(after),
        held_back=stored.held_back,
        notes=[refusal(content) for content in stored.refused],
    )


async def delete_file(executor: Executor, namespace: str, path: str) -> FileOut:
    """Delete one file with everything attached to it; return its previous state. Raises NotFound."""
    before = (await get_files(executor, namespace, [path])).get(path)
    if before is None or not await delete_files(executor, namespace, [path]):
        raise no_file(namespace)
    return file_out(before)


async def files_page(executor: Executor, namespace: str, query: FileListQuery) -> FileList:
    """Return one page of the files, by path."""
    found = await list_files(executor, namespace, query.after, query.limit + 1)
    return FileList(files=[file_out(known) for known in found[: query.limit]], more=len(found) > query.limit)


def allowed_root(root: str, allowed: Sequence[Path]) -> Path:
    """Return the requested folder, symbolic links resolved. Raises Forbidden unless an allowed folder contains it."""
    folder = Path(root)
    if folder.is_absolute() and "\0" not in root:
        resolved = folder.resolve()
        if any(resolved.is_relative_to(allowed_folder.resolve()) for allowed_folder in allowed):
            return resolved
    raise Forbidden(
        "this folder may not be indexed", field="root", remedy="The operator lists folders in LIBRARIAN_INDEX_ROOTS."
    )


def checked_path(path: str) -> str:
    """Return a path that stays below its root. Raises InvalidInput."""
    parts = path.split("/")
    if "\0" in path or any(part in ("", ".", "..") for part in parts):
        raise InvalidInput("it must be relative, without empty parts, `.` and `..`", field="path")
    try:
        path.encode()
    except UnicodeEncodeError:
        # Replacing invalid bytes would give two files the same path.
        raise InvalidInput("it has bytes that are no UTF-8", field="path", remedy="Rename the file.") from None
    return path


def file_out(known: KnownFile) -> FileOut:
    """Return a stored file for the wire."""
    return FileOut(
        path=known.path,
        root=known.root,
        size=known.size,
        sha256=None if known.unread else known.sha256,
        language=known.language,
        lines=known.lines,
        unread=known.unread,
        indexed_at=known.indexed_at,
    )


def no_file(namespace: str) -> NotFound:
    """Return the error for a path missing from `namespace`."""
    return NotFound(f"no file has this path in namespace {namespace!r}", field="path")


def _load_all(loader: Loader, root: Path, batch: Sequence[FileEntry]) -> list[FileContent | None]:
    return [loader.load(root, found.path) for found in batch]


def _taken(values: Iterable[T], most: int | None) -> list[T]:
    return list(islice(values, most))


def _batches(files: Iterable[FileEntry]) -> Iterator[list[FileEntry]]:
    batch: list[FileEntry] = []
    size = 0
    for found in files:
        batch.append(found)
        size += found.size
        if len(batch) >= _BATCH_FILES or size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
