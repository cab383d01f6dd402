"""What `Librarian` does with files."""

import asyncio
import hashlib
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

from graph.spaces import count_pending
from librarian.audit import audit
from librarian.contracts.files import (
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
    StaleList,
    StaleQuery,
)
from librarian.files.loading import Loader
from librarian.files.watching import changes
from librarian.lifecycle import Parts
from librarian.settings import Settings
from librarian.usecases import index_files as indexing
from librarian.usecases.find_file import find_file
from librarian.usecases.index_files import IndexRun, OnProgress
from librarian.usecases.locate import locate
from librarian.usecases.open_file import open_file
from librarian.usecases.search_text import search_text
from librarian.usecases.stale_evidence import stale_evidence


def _silent(_done: int, _total: int) -> None:
    """Default progress."""


class FileVerbs(ABC):
    """What `librarian.service.Librarian` does with files."""

    settings: Settings
    _new_items: asyncio.Event

    @property
    @abstractmethod
    def parts(self) -> Parts:
        """What this Librarian works with. Raises NotReady."""

    async def index_files(
        self, namespace: str, root: Path, *, paths_only: bool = False, on_progress: OnProgress = _silent
    ) -> IndexReport:
        """Bring `namespace` up to date with the files below `root`; only what changed is read and stored.

        Paths come first, so that files are found by name while their contents follow. Safe to interrupt and to run
        again. `on_progress` gets (files done, files to do). Raises InvalidInput when there is no such folder.
        """
        place = await asyncio.to_thread(root.resolve)
        run = IndexRun(self.parts.executor, namespace, place, self._loader(namespace), paths_only, on_progress)
        report = await run.run()
        audit("files.index", namespace, added=report.added, updated=report.updated, deleted=report.deleted)
        self._new_items.set()
        report.pending_embeddings = await count_pending(self.parts.executor)
        return report

    async def index_allowed(self, namespace: str, wanted: IndexInput, *, on_progress: OnProgress) -> IndexReport:
        """The same for whoever is not at the machine. Raises Forbidden for a folder outside LIBRARIAN_INDEX_ROOTS."""
        root = await asyncio.to_thread(indexing.allowed_root, wanted.root, self.settings.files.roots)
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
        place = await asyncio.to_thread(root.resolve)
        async with changes(place) as changed:
            on_indexed(await self.index_files(namespace, place, on_progress=on_progress))
            async for paths in changed:
                await self._follow(namespace, place, paths)
                yield paths

    async def put_file(self, namespace: str, path: str, data: bytes, root: str = "") -> PutFileOutput:
        """Store one file under `path`; the same contents again change nothing. `root` says where it comes from.

        Raises InvalidInput for a path that is not relative.
        """
        put = await indexing.put_file(self.parts.executor, namespace, self._loader(namespace), path, data, root)
        audit("file.put", namespace, path_hash=_hashed(path), outcome=put.outcome)
        self._new_items.set()
        return put

    async def delete_file(self, namespace: str, path: str) -> FileOut:
        """Delete one file with all that hangs on it. Raises NotFound."""
        gone = await indexing.delete_file(self.parts.executor, namespace, path)
        audit("file.delete", namespace, path_hash=_hashed(path))
        return gone

    async def list_files(self, namespace: str, query: FileListQuery) -> FileList:
        """One page of the files of `namespace`, by path."""
        return await indexing.files_page(self.parts.executor, namespace, query)

    async def stale_evidence(self, namespace: str, query: StaleQuery) -> StaleList:
        """Facts and memories of `namespace` that cite lines of files which are not there any more, or never were."""
        return await stale_evidence(self.parts.executor, namespace, query)

    async def open_file(self, namespace: str, path: str, span: SpanQuery) -> FileSpan:
        """Lines of a file as they are stored, at most 2,000. Raises NotFound, InvalidInput."""
        return await open_file(self.parts.executor, namespace, path, span)

    async def find_file(self, namespace: str, wanted: FindFileInput) -> FindFileOutput:
        """Paths of files by what they are called, best first."""
        return await find_file(self.parts.executor, namespace, wanted)

    async def search_text(self, namespace: str, wanted: SearchTextInput) -> SearchTextOutput:
        """Lines of files that hold a text, exactly. Raises InvalidInput for a pattern that means nothing."""
        return await search_text(self.parts.executor, namespace, wanted)

    async def locate(self, namespace: str, wanted: LocateInput) -> LocateOutput:
        """Paths, lines and parts of files for a question, by the layers that fit its shape."""
        return await locate(self.parts.executor, self.parts.pipeline, namespace, wanted)

    async def _follow(self, namespace: str, root: Path, paths: Sequence[str]) -> None:
        executor, loader = self.parts.executor, self._loader(namespace)
        if "" in paths:
            await self.index_files(namespace, root)
            return
        for path in paths:
            await indexing.update_path(executor, namespace, root, loader, path)
        self._new_items.set()

    def _loader(self, namespace: str) -> Loader:
        return Loader(namespace, self.settings.files.max_bytes)


def _hashed(path: str) -> str:
    return hashlib.sha256(path.encode()).hexdigest()[:16]
