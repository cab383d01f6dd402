"""Exports, imports and backups of namespaces and whole graphs."""

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
"""After a failed backup: a full disk must not fill the log."""

log = structlog.stdlib.get_logger("librarian.backups")
Counted = Callable[[int, int], None]


class TransferRoom:
    """Writes namespaces and whole graphs to files, and reads them back. `wake` is called when texts have changed."""

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
        """Write `namespaces` (None: all) to the file `target`, which appears only when it is complete; gzipped if its
        name ends in .gz. Others may continue to write: the file represents one moment.

        `on_progress` gets (items written, items in total). Raises NotFound, CannotWrite.
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
        """Export to an empty, seekable file open for reading and writing; gzipped if `compress`. Without `tombstones`
        it does not reveal that anything was forgotten.
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
        """Write the contents of the export `file` (seekable); `into` renames its only namespace.

        The whole file is checked before the first write. `existing` decides about namespaces that are not empty.
        Forgotten items are held back and counted in the report, unless `even_if_forgotten`. An interrupted import
        resumes with the same file. `on_progress` gets (rows settled, rows in total). Raises InvalidExport, Conflict,
        LeaseHeld, InvalidInput.
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
        """Write the whole graph to a new file in `folder` (None: LIBRARIAN_BACKUP_DIR), while others continue to write;
        then delete older backups by `retention` (None: LIBRARIAN_BACKUP_KEEP).

        Raises CannotWrite, and LeaseHeld while another backup runs.
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
        """Replace the contents of the graph by those of the backup or export `file` (seekable); items forgotten since
        are held back, unless `even_if_forgotten`.

        A graph that is not empty needs `replace` and is backed up first. Raises InvalidExport, Conflict, CannotWrite,
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
        """Make backups every LIBRARIAN_BACKUP_EVERY until cancelled. Among services that share a folder, one makes
        each; a failed backup is logged and retried.
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
        """Make a backup; return whether this service made it."""

        async def work() -> None:
            made = await self.backup()
            log.info("backup made", file=made.file, bytes=made.bytes, exact=made.exact, removed=len(made.removed))

        error = await caught(work())
        if error is None:
            metrics.backups.labels("made").inc()
            return True
        if not isinstance(error, LeaseHeld):  # else another service makes it
            metrics.backups.labels("failed").inc()
            log.error("backup failed", reason=message_of(error))
        return False


def _audited(report: ExportReport) -> ExportReport:
    for namespace in report.namespaces:
        audit("namespace.export", namespace, sha256=report.sha256)
    return report
