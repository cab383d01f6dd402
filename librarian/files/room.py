"""Files of one graph: indexed, found and read."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import cast

from graph.citations import list_stale
from graph.spaces import count_pending
from librarian.base.audit import audit
from librarian.base.settings.settings import FileSettings
from librarian.files import indexing
from librarian.files.contracts import (
    FileList,
    FileListQuery,
    FileOut,
    FileSpan,
    FindFileInput,
    FindFileOutput,
    IndexInput,
    IndexReport,
    LocateInput,
    LocateOutput,
    PutFileOutput,
    SearchTextInput,
    SearchTextOutput,
    SpanQuery,
    StaleEvidence,
    StaleList,
    StaleQuery,
    StaleState,
    TextLines,
)
from librarian.files.find import find_file
from librarian.files.indexing import IndexRun, OnProgress
from librarian.files.loading import Loader
from librarian.files.locate import locate
from librarian.files.open import open_file
from librarian.files.text import as_lines, search_text
from librarian.files.watching import changes
from librarian.runtime.lifecycle import Lifecycle


def _silent(_done: int, _total: int) -> None:
    """Default progress."""


class FilesRoom:
    """Indexes files and finds them, their lines and what they mean. `wake` is called when texts have changed."""

    def __init__(self, lifecycle: Lifecycle, settings: FileSettings, wake: Callable[[], None]) -> None:
        self._lifecycle = lifecycle
        self._settings = settings
        self._wake = wake

    async def index_files(
        self, namespace: str, root: Path, *, paths_only: bool = False, on_progress: OnProgress = _silent
    ) -> IndexReport:
        """Bring `namespace` up to date with the files below `root`; only what changed is read and stored.

        Paths come first, so that files are found by name while their contents follow. Safe to interrupt and to run
        again. `on_progress` gets (files done, files to do). Raises InvalidInput when there is no such folder.
        """
        folder = await asyncio.to_thread(root.resolve)
        run = IndexRun(
            self._lifecycle.parts.executor, namespace, folder, self._loader(namespace), paths_only, on_progress
        )
        report = await run.run()
        audit("files.index", namespace, added=report.added, updated=report.updated, deleted=report.deleted)
        self._wake()
        report.pending_embeddings = await count_pending(self._lifecycle.parts.executor)
        return report

    async def index_allowed(
        self, namespace: str, wanted: IndexInput, *, on_progress: OnProgress = _silent
    ) -> IndexReport:
        """The same for whoever is not at the machine. Raises Forbidden for a folder outside LIBRARIAN_INDEX_ROOTS."""
        root = await asyncio.to_thread(indexing.allowed_root, wanted.root, self._settings.roots)
        return await self.index_files(namespace, root, paths_only=wanted.paths_only, on_progress=on_progress)

    async def watch_files(
        self,
        namespace: str,
        root: Path,
        *,
        on_indexed: Callable[[IndexReport], None],
        on_progress: OnProgress = _silent,
    ) -> AsyncIterator[Sequence[str]]:
        """Index `root`, then follow it until cancelled: each set of paths is given when it is up to date."""
        folder = await asyncio.to_thread(root.resolve)
        async with changes(folder) as changed:
            on_indexed(await self.index_files(namespace, folder, on_progress=on_progress))
            async for paths in changed:
                await self._follow(namespace, folder, paths)
                yield paths

    async def put_file(self, namespace: str, path: str, data: bytes, root: str = "") -> PutFileOutput:
        """Store one file under `path`; the same contents again change nothing. `root` says where it comes from.

        Raises InvalidInput for a path that is not relative.
        """
        put = await indexing.put_file(
            self._lifecycle.parts.executor, namespace, self._loader(namespace), path, data, root
        )
        audit("file.put", namespace, path_hash=_hashed(path), outcome=put.outcome)
        self._wake()
        return put

    async def delete_file(self, namespace: str, path: str) -> FileOut:
        """Delete one file with all that hangs on it. Raises NotFound."""
        gone = await indexing.delete_file(self._lifecycle.parts.executor, namespace, path)
        audit("file.delete", namespace, path_hash=_hashed(path))
        return gone

    async def list_files(self, namespace: str, query: FileListQuery) -> FileList:
        """One page of the files of `namespace`, by path."""
        return await indexing.files_page(self._lifecycle.parts.executor, namespace, query)

    async def stale_evidence(self, namespace: str, query: StaleQuery) -> StaleList:
        """Facts and memories of `namespace` that cite lines of files which are not there any more, or never were, by
        path and line.
        """
        found = await list_stale(self._lifecycle.parts.executor, namespace, query.limit + 1)
        stale = [
            StaleEvidence(
                uid=citation.uid,
                kind=citation.kind,
                name=citation.name,
                ref=citation.ref,
                path=citation.path,
                start=citation.start_line,
                end=citation.end_line,
                state=cast("StaleState", citation.state.value),
                since=citation.stale_since,
                content=citation.text,
            )
            for citation in found[: query.limit]
        ]
        return StaleList(namespace=namespace, stale=stale, more=len(found) > query.limit)

    async def open_file(self, namespace: str, path: str, span: SpanQuery) -> FileSpan:
        """Lines of a file as they are stored, at most 2,000. Raises NotFound, InvalidInput."""
        return await open_file(self._lifecycle.parts.executor, namespace, path, span)

    async def find_file(self, namespace: str, wanted: FindFileInput) -> FindFileOutput:
        """Paths of files by what they are called, best first."""
        return await find_file(self._lifecycle.parts.executor, namespace, wanted)

    async def search_text(self, namespace: str, wanted: SearchTextInput) -> SearchTextOutput:
        """Lines of files that hold a text, exactly. Raises InvalidInput for a pattern that means nothing."""
        return await search_text(self._lifecycle.parts.executor, namespace, wanted)

    async def search_lines(self, namespace: str, wanted: SearchTextInput) -> TextLines:
        """Return the lines of files that hold a text as grep shows them. Raises InvalidInput for an invalid pattern."""
        return as_lines(await self.search_text(namespace, wanted))

    async def locate(self, namespace: str, wanted: LocateInput) -> LocateOutput:
        """Paths, lines and parts of files for a question, by the layers that fit its shape."""
        return await locate(self._lifecycle.parts.executor, self._lifecycle.parts.pipeline, namespace, wanted)

    async def _follow(self, namespace: str, root: Path, paths: Sequence[str]) -> None:
        executor, loader = self._lifecycle.parts.executor, self._loader(namespace)
        if "" in paths:
            await self.index_files(namespace, root)
            return
        for path in paths:
            await indexing.update_path(executor, namespace, root, loader, path)
        self._wake()

    def _loader(self, namespace: str) -> Loader:
        return Loader(namespace, self._settings.max_bytes)


def _hashed(path: str) -> str:
    return hashlib.sha256(path.encode()).hexdigest()[:16]
