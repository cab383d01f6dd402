"""Whole namespaces out of the facade and into it."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import BinaryIO

from librarian.audit import audit
from librarian.contracts.exports import Existing, ExportReport, ImportReport
from librarian.lifecycle import Parts
from librarian.usecases.export_graph import export_into, export_to
from librarian.usecases.import_graph import import_from

Counted = Callable[[int, int], None]


class Transfers(ABC):
    """What `librarian.service.Librarian` writes to files and reads from them."""

    @property
    @abstractmethod
    def parts(self) -> Parts:
        """What this Librarian works with. Raises NotReady."""

    @abstractmethod
    def wake(self) -> None:
        """Let the worker encode texts that have changed."""

    async def export_to(
        self,
        target: Path,
        namespaces: Sequence[str] | None = None,
        *,
        vectors: bool = False,
        on_progress: Counted | None = None,
    ) -> ExportReport:
        """Write `namespaces` (None: all there are) to the file `target`, which appears when it is whole; zipped where
        its name ends in .gz. Others may go on writing: the file is of one moment.

        `on_progress` gets the items that are written and how many there are. Raises NotFound, CannotWrite.
        """
        report = await export_to(self.parts.executor, target, namespaces, vectors=vectors, on_progress=on_progress)
        return _audited(report)

    async def export_into(
        self,
        file: BinaryIO,
        namespaces: Sequence[str] | None = None,
        *,
        vectors: bool = False,
        compress: bool = False,
        on_progress: Counted | None = None,
    ) -> ExportReport:
        """The same into an empty file that can be read, written and sought in; zipped if `compress`."""
        executor = self.parts.executor
        return _audited(
            await export_into(executor, file, namespaces, vectors=vectors, compress=compress, on_progress=on_progress)
        )

    async def import_from(
        self,
        file: BinaryIO,
        into: str | None = None,
        *,
        existing: Existing = "refuse",
        on_progress: Counted | None = None,
    ) -> ImportReport:
        """Write what the export `file` (seekable) holds; its only namespace under the name `into`, if given.

        The whole file is checked before the first write. `existing` says what to do where a namespace holds something.
        An interrupted import goes on with the same file. `on_progress` gets the rows that are settled and how many
        there are. Raises InvalidExport, Conflict, LeaseHeld, InvalidInput.
        """
        executor = self.parts.executor
        report = await import_from(executor, file, into, existing=existing, on_progress=on_progress)
        for namespace in report.namespaces:
            audit("namespace.import", namespace, existing=existing, items=report.created.get("item", 0))
        self.wake()
        return report


def _audited(report: ExportReport) -> ExportReport:
    for namespace in report.namespaces:
        audit("namespace.export", namespace, sha256=report.sha256)
    return report
