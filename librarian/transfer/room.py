"""Namespaces and whole graphs as files: exports, imports, backups."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import BinaryIO

import structlog

from graph.errors import LeaseHeld
from graph.leases import leased
from librarian.base import metrics
from librarian.base.audit import audit
from librarian.base.problems import caught, message_of
from librarian.base.settings.settings import BackupSettings
from librarian.runtime.lifecycle import Lifecycle
from librarian.transfer.backup import back_up
from librarian.transfer.contracts import BackupReport, Existing, ExportReport, ImportReport, RestoreReport
from librarian.transfer.export import export_into, export_to
from librarian.transfer.import_ import import_from
from librarian.transfer.restore import restore_from
from librarian.transfer.retention import Retention, age_s

EVERY_NAMESPACE = "*"

_LEASE = "backup"
_LONGEST_WAIT_S = 60.0
_REST_S = 300.0
"""After a backup that failed: a full disk is no reason to fill the log."""

log = structlog.stdlib.get_logger("librarian.backups")
Counted = Callable[[int, int], None]


class TransferRoom:
    """Writes namespaces and whole graphs to files, and reads them from there. `wake` is called when texts have
    changed.
    """

    def __init__(self, lifecycle: Lifecycle, plan: BackupSettings, wake: Callable[[], None]) -> None:
        self._lifecycle = lifecycle
        self._plan = plan
        self._wake = wake

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
        report = await export_to(
            self._lifecycle.parts.executor, target, namespaces, vectors=vectors, on_progress=on_progress
        )
        return _audited(report)

    async def export_into(
        self,
        file: BinaryIO,
        namespaces: Sequence[str] | None = None,
        *,
        vectors: bool = False,
        compress: bool = False,
        tombstones: bool = True,
        on_progress: Counted | None = None,
    ) -> ExportReport:
        """Export into an empty file that can be read, written and sought in; zipped if `compress`. Without `tombstones`
        it does not tell that anything was forgotten.
        """
        return _audited(
            await export_into(
                self._lifecycle.parts.executor,
                file,
                namespaces,
                vectors=vectors,
                compress=compress,
                tombstones=tombstones,
                on_progress=on_progress,
            )
        )

    async def import_from(
        self,
        file: BinaryIO,
        into: str | None = None,
        *,
        existing: Existing = "refuse",
        even_if_forgotten: bool = False,
        on_progress: Counted | None = None,
    ) -> ImportReport:
        """Write what the export `file` (seekable) holds; its only namespace under the name `into`, if given.

        The whole file is checked before the first write. `existing` says what to do where a namespace holds something.
        Items that were forgotten are held back, and the report says so; `even_if_forgotten` lets them come back.
        An interrupted import goes on with the same file. `on_progress` gets the rows that are settled and how many
        there are. Raises InvalidExport, Conflict, LeaseHeld, InvalidInput.
        """
        executor = self._lifecycle.parts.executor
        report = await import_from(
            executor, file, into, existing=existing, even_if_forgotten=even_if_forgotten, on_progress=on_progress
        )
        counts = {"items": report.created.get("item", 0), "held_back": report.held_back}
        for namespace in report.namespaces:
            audit("namespace.import", namespace, existing=existing, even_if_forgotten=even_if_forgotten, **counts)
        self._wake()
        return report

    async def backup(
        self, folder: Path | None = None, retention: Retention | None = None, *, on_progress: Counted | None = None
    ) -> BackupReport:
        """Write the whole graph to a new file in `folder` (None: LIBRARIAN_BACKUP_DIR), while others go on writing;
        older backups may go then, as `retention` says (None: LIBRARIAN_BACKUP_KEEP).

        Raises CannotWrite, LeaseHeld while another one is made.
        """
        plan, executor = self._plan, self._lifecycle.parts.executor
        async with leased(executor, _LEASE, "a backup"):
            made = await back_up(
                executor, folder or plan.folder, retention or Retention(plan.keep or None), on_progress=on_progress
            )
        audit("backup", EVERY_NAMESPACE, file=made.file, sha256=made.sha256, exact=made.exact)
        return made

    async def restore(
        self,
        file: BinaryIO,
        *,
        replace: bool = False,
        even_if_forgotten: bool = False,
        on_progress: Counted | None = None,
    ) -> RestoreReport:
        """Make the graph hold what the backup or export `file` (seekable) holds, and nothing else; what was forgotten
        since is held back, unless it is to come back `even_if_forgotten`.

        With `replace` a graph that holds something is backed up first. Raises InvalidExport, Conflict, CannotWrite,
        LeaseHeld.
        """
        executor, folder = self._lifecycle.parts.executor, self._plan.folder
        done = await restore_from(
            executor, file, folder, replace=replace, even_if_forgotten=even_if_forgotten, on_progress=on_progress
        )
        counts = {"namespaces": len(done.restored.namespaces), "held_back": done.restored.held_back}
        audit("restore", EVERY_NAMESPACE, **counts, replace=replace, even_if_forgotten=even_if_forgotten)
        self._wake()
        return done

    async def back_up_on_schedule(self) -> None:
        """Make the backups that LIBRARIAN_BACKUP_EVERY asks for, until cancelled. Of services that share a folder one
        makes each; a backup that failed is logged and tried again.
        """
        plan = self._plan
        if not plan.every_s:
            return
        metrics.watch_backup_age(lambda: age_s(plan))
        while True:
            await self._lifecycle.ready()
            wait_s = plan.every_s - age_s(plan)
            if wait_s > 0:
                await asyncio.sleep(min(wait_s, _LONGEST_WAIT_S))
            elif not await self._scheduled_backup():
                await asyncio.sleep(min(_REST_S, plan.every_s))

    async def _scheduled_backup(self) -> bool:
        """Make one; returns whether this service made it."""

        async def work() -> None:
            made = await self.backup()
            log.info("backup made", file=made.file, bytes=made.bytes, exact=made.exact, removed=len(made.removed))

        error = await caught(work())
        if error is None:
            metrics.count_backup("made")
            return True
        if not isinstance(error, LeaseHeld):  # else another service makes it
            metrics.count_backup("failed")
            log.error("backup failed", reason=message_of(error))
        return False


def _audited(report: ExportReport) -> ExportReport:
    for namespace in report.namespaces:
        audit("namespace.export", namespace, sha256=report.sha256)
    return report
