"""Backup of 100,000 items with their vectors and restore into another home.

The restored graph is backed up again, and the two backups are compared byte by byte.

Sizes: LIBRARIAN_BENCH_ITEMS (100000).
"""

import hashlib
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil

from benchmarks.common import disposable, main, progress, report
from benchmarks.search_latency import ITEMS, fill
from librarian.app import Librarian
from librarian.transfer.contracts import BackupReport, ImportReport
from librarian.transfer.retention import Retention

_EVERYTHING_STAYS = Retention()


async def timed_backup(librarian: Librarian, folder: Path) -> tuple[BackupReport, float]:
    """Return a backup and the seconds it took."""
    started = time.perf_counter()
    made = await librarian.backup(folder, _EVERYTHING_STAYS, on_progress=_Drawn("backup"))
    return made, time.perf_counter() - started


async def timed_restore(librarian: Librarian, backup: Path) -> tuple[ImportReport, float]:
    """Return the report of a restore and the seconds it took."""
    started = time.perf_counter()
    with backup.open("rb") as source:
        done = await librarian.restore(source, on_progress=_Drawn("restore"))
    return done.restored, time.perf_counter() - started


async def benchmark() -> None:
    """Fill a home, back it up, restore it into another one, and back that up."""
    with TemporaryDirectory(prefix="librarian-backups-") as temporary:
        folder = Path(temporary)
        async with disposable() as (librarian, _):
            await fill(librarian)
            before_mb = _resident_mb()
            made, backup_s = await timed_backup(librarian, folder / "first")
            grown_mb = _resident_mb() - before_mb
        async with disposable() as (librarian, _):
            restored, restore_s = await timed_restore(librarian, Path(made.file))
            again, again_s = await timed_backup(librarian, folder / "second")
        equal = _digest(made.file) == _digest(again.file)
        rows = [
            {"what": "backup", "seconds": round(backup_s, 1)},
            {"what": "restore", "seconds": round(restore_s, 1)},
            {"what": "backup of what was restored", "seconds": round(again_s, 1)},
        ]
        report(
            "backup",
            rows,
            items=ITEMS,
            created=restored.created,
            pending_after_restore=restored.pending_embeddings,
            file_mb=round(made.bytes / 1e6, 1),
            memory_grown_mb=round(grown_mb),
            equal_byte_for_byte=equal,
        )


class _Drawn:
    """Draws progress."""

    def __init__(self, what: str) -> None:
        self._what = what

    def __call__(self, done: int, total: int) -> None:
        """Draw `done` of `total`."""
        progress(f"{self._what}: {done} of {total}")


def _digest(path: str) -> str:
    with Path(path).open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _resident_mb() -> float:
    return float(psutil.Process().memory_info().rss) / 2**20


if __name__ == "__main__":
    main(benchmark)
