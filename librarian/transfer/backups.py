"""The backups of a folder: their names, which there are, and which may go."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

from graph.local.dumps import SUFFIX as DUMP_SUFFIX
from graph.local.dumps import facts_file

BackupKind = Literal["export", "dump"]

_SUFFIXES: dict[BackupKind, str] = {"export": ".jsonl.gz", "dump": DUMP_SUFFIX}
_NAME = re.compile(r"librarian-(\d{8}T\d{6}Z)(\.jsonl\.gz|\.dump)")
_STAMP = "%Y%m%dT%H%M%SZ"


@dataclass(frozen=True, slots=True)
class Backup:
    """One backup, made at `made_at` by its name."""

    path: Path
    kind: BackupKind
    made_at: datetime


@dataclass(frozen=True, slots=True)
class Retention:
    """What stays: the newest `keep`, and what is younger than `days`; None does not limit. The newest one always
    stays.
    """

    keep: int | None = None
    days: int | None = None

    def doomed(self, backups: Sequence[Backup], now: datetime) -> list[Backup]:
        """Which of `backups`, the newest first, may go."""
        if self.keep is None and self.days is None:
            return []
        stays = max(1, self.keep or 0)
        youngest = now if self.days is None else now - timedelta(days=self.days)
        return [backup for backup in backups[stays:] if backup.made_at < youngest]


def backups_in(folder: Path) -> list[Backup]:
    """The backups of `folder`, the newest first; files of other names are none."""
    if not folder.is_dir():
        return []
    found = [backup for path in folder.iterdir() if (backup := _backup(path)) is not None]
    return sorted(found, key=lambda backup: (backup.made_at, backup.path.name), reverse=True)


def new_backup(folder: Path, kind: BackupKind) -> Path:
    """The path of a backup that is made now; a name that is taken is passed over."""
    now = datetime.now(UTC)
    while (path := folder / f"librarian-{now:{_STAMP}}{_SUFFIXES[kind]}").exists():
        now += timedelta(seconds=1)
    return path


def prune(folder: Path, retention: Retention) -> list[Path]:
    """Delete what may go, and return it."""
    gone = [backup.path for backup in retention.doomed(backups_in(folder), datetime.now(UTC))]
    for path in gone:
        path.unlink(missing_ok=True)
        facts_file(path).unlink(missing_ok=True)
    return gone


def _backup(path: Path) -> Backup | None:
    found = _NAME.fullmatch(path.name)
    if found is None:
        return None
    try:
        made_at = datetime.strptime(found[1], _STAMP).replace(tzinfo=UTC)
    except ValueError:
        return None
    return Backup(path, "dump" if found[2] == DUMP_SUFFIX else "export", made_at)
