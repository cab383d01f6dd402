"""Backups of the facade, and those that the service makes by itself."""

import asyncio
import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

import structlog

from graph.errors import LeaseHeld
from graph.leases import leased
from librarian import metrics
from librarian.audit import audit
from librarian.contracts.exports import BackupReport, RestoreReport
from librarian.lifecycle import Parts
from librarian.problems import attempt, caught, message_of
from librarian.settings import BackupSettings, Settings
from librarian.transfer.backups import Retention, backups_in
from librarian.usecases.back_up import back_up
from librarian.usecases.restore_graph import restore_from

EVERY_NAMESPACE = "*"

_LEASE = "backup"
_LONGEST_WAIT_S = 60.0
_REST_S = 300.0
"""After a backup that failed: a full disk is no reason to fill the log."""
_OVERDUE = 2.0
"""So many intervals without a backup are worth a warning: one may have failed and the next not be due yet."""

log = structlog.stdlib.get_logger("librarian.backups")
Counted = Callable[[int, int], None]


class Backups(ABC):
    """How `librarian.service.Librarian` is backed up and restored, all namespaces at once."""

    settings: Settings

    @property
    @abstractmethod
    def parts(self) -> Parts:
        """What this Librarian works with. Raises NotReady."""

    @abstractmethod
    async def ready(self) -> None:
        """Wait until the graph can be used."""

    @abstractmethod
    def wake(self) -> None:
        """Let the worker encode texts that have changed."""

    async def backup(
        self, folder: Path | None = None, retention: Retention | None = None, *, on_progress: Counted | None = None
    ) -> BackupReport:
        """Write the whole graph to a new file in `folder` (None: LIBRARIAN_BACKUP_DIR), while others go on writing;
        older backups may go then, as `retention` says (None: LIBRARIAN_BACKUP_KEEP).

        Raises CannotWrite, LeaseHeld while another one is made.
        """
        plan, executor = self.settings.backup, self.parts.executor
        async with leased(executor, _LEASE, "a backup"):
            made = await back_up(
                executor, folder or plan.folder, retention or Retention(plan.keep or None), on_progress=on_progress
            )
        audit("backup", EVERY_NAMESPACE, file=made.file, sha256=made.sha256, exact=made.exact)
        return made

    async def restore(
        self, file: BinaryIO, *, replace: bool = False, on_progress: Counted | None = None
    ) -> RestoreReport:
        """Make the graph hold what the backup or export `file` (seekable) holds, and nothing else.

        With `replace` a graph that holds something is backed up first. Raises InvalidExport, Conflict, CannotWrite,
        LeaseHeld.
        """
        executor, folder = self.parts.executor, self.settings.backup.folder
        done = await restore_from(executor, file, folder, replace=replace, on_progress=on_progress)
        audit("restore", EVERY_NAMESPACE, namespaces=len(done.restored.namespaces), replace=replace)
        self.wake()
        return done


async def back_up_on_schedule(librarian: Backups) -> None:
    """Make the backups that LIBRARIAN_BACKUP_EVERY asks for, until cancelled. Of services that share a folder one makes
    each; a backup that failed is logged and tried again.
    """
    plan = librarian.settings.backup
    if not plan.every_s:
        return
    metrics.watch_backup_age(lambda: age_s(plan))
    while True:
        await librarian.ready()
        wait_s = plan.every_s - age_s(plan)
        if wait_s > 0:
            await asyncio.sleep(min(wait_s, _LONGEST_WAIT_S))
        elif not await _made(librarian):
            await asyncio.sleep(min(_REST_S, plan.every_s))


async def _made(librarian: Backups) -> bool:
    async def work() -> None:
        made = await librarian.backup()
        log.info("backup made", file=made.file, bytes=made.bytes, exact=made.exact, removed=len(made.removed))

    error = await caught(work())
    if error is None:
        metrics.count_backup("made")
        return True
    if not isinstance(error, LeaseHeld):  # else another service makes it
        metrics.count_backup("failed")
        log.error("backup failed", reason=message_of(error))
    return False


def age_s(plan: BackupSettings) -> float:
    """Seconds since the newest backup was made; infinite where there is none, or its folder cannot be read."""
    found = attempt(lambda: backups_in(plan.folder))
    if isinstance(found, Exception) or not found:
        return math.inf
    return (datetime.now(UTC) - found[0].made_at).total_seconds()


def overdue(plan: BackupSettings) -> str:
    """What is to be said of a schedule that is not kept; empty where it is, or where there is none."""
    age = age_s(plan)
    if not plan.every_s or age <= _OVERDUE * plan.every_s:
        return ""
    if math.isinf(age):
        return f"no backup in {plan.folder} yet"
    return f"overdue: the newest backup in {plan.folder} is {age / 3600:,.1f} hours old"
