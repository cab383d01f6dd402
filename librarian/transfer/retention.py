"""The backups of a folder: their names, list, age and retention."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

from graph.local.dumps import SUFFIX as DUMP_SUFFIX
from graph.local.dumps import facts_file
from librarian.base.problems import attempt
from librarian.base.settings.settings import BackupSettings

BackupKind = Literal["export", "dump"]

_SUFFIXES: dict[BackupKind, str] = {"export": ".jsonl.gz", "dump": DUMP_SUFFIX}
_NAME = re.compile(r"librarian-(\d{8}T\d{6}Z)(\.jsonl\.gz|\.dump)")
_STAMP = "%Y%m%dT%H%M%SZ"
_OVERDUE = 2.0
"""Intervals without a backup before a warning: one may have failed and the next not be due yet."""


@dataclass(frozen=True, slots=True)
class Backup:
    """One backup; `made_at` is read from its name."""

    path: Path
    kind: BackupKind
    made_at: datetime


@dataclass(frozen=True, slots=True)
class Retention:
    """Backups to keep: the newest `keep`, and those younger than `days`; None does not limit. The newest one always
    stays.
    """

    keep: int | None = None
    days: int | None = None

    def doomed(self, backups: Sequence[Backup], now: datetime) -> list[Backup]:
        """Return those of `backups` (newest first) that may be deleted."""
        if self.keep is None and self.days is None:
            return []
        stays = max(1, self.keep or 0)
        youngest = now if self.days is None else now - timedelta(days=self.days)
        return [backup for backup in backups[stays:] if backup.made_at < youngest]


def backups_in(folder: Path) -> list[Backup]:
    """Return the backups of `folder`, newest first, ignoring other files."""
    if not folder.is_dir():
        return []
    found = [backup for path in folder.iterdir() if (backup := _backup(path)) is not None]
    return sorted(found, key=lambda backup: (backup.made_at, backup.path.name), reverse=True)


def new_backup(folder: Path, kind: BackupKind) -> Path:
    """Return an unused path for a new backup."""
    now = datetime.now(UTC)
    while (path := folder / f"librarian-{now:{_STAMP}}{_SUFFIXES[kind]}").exists():
        now += timedelta(seconds=1)
    return path


def prune(folder: Path, retention: Retention) -> list[Path]:
    """Delete the backups that may go, and return them."""
    gone = [backup.path for backup in retention.doomed(backups_in(folder), datetime.now(UTC))]
    for path in gone:
        path.unlink(missing_ok=True)
        facts_file(path).unlink(missing_ok=True)
    return gone


def age_s(plan: BackupSettings) -> float:
    """Return the age of the newest backup in seconds; infinite without one, or if the folder cannot be read."""
    found = attempt(lambda: backups_in(plan.folder))
    if isinstance(found, Exception) or not found:
        return math.inf
    return (datetime.now(UTC) - found[0].made_at).total_seconds()


def overdue(plan: BackupSettings) -> str:
    """Return a warning if the schedule is overdue; empty if it is not, or if there is none."""
    age = age_s(plan)
    if not plan.every_s or age <= _OVERDUE * plan.every_s:
        return ""
    if math.isinf(age):
        return f"no backup in {plan.folder} yet"
    return f"overdue: the newest backup in {plan.folder} is {age / 3600:,.1f} hours old"


def _backup(path: Path) -> Backup | None:
    found = _NAME.fullmatch(path.name)
    if found is None:
        return None
    try:
        made_at = datetime.strptime(found[1], _STAMP).replace(tzinfo=UTC)
    except ValueError:
        return None
    return Backup(path, "dump" if found[2] == DUMP_SUFFIX else "export", made_at)
