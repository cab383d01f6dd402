"""Backups: the whole graph as one file, and the deletion of older ones."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from graph.executor import Executor
from librarian.transfer.atomic import remove_stale_parts, writable
from librarian.transfer.contracts import BackupReport
from librarian.transfer.export import export_to
from librarian.transfer.retention import Retention, new_backup, prune

Counted = Callable[[int, int], None]


async def back_up(
    executor: Executor, folder: Path, retention: Retention, *, on_progress: Counted | None = None
) -> BackupReport:
    """Write every namespace, vectors included, to a new file in `folder`; then delete older backups as configured.

    Raises CannotWrite: nothing is deleted then.
    """
    await asyncio.to_thread(prepare_folder, folder)
    target = new_backup(folder, "export")
    made = await export_to(executor, target, vectors=True, on_progress=on_progress)
    removed = await asyncio.to_thread(prune, folder, retention)
    return BackupReport(
        file=str(target),
        kind="export",
        bytes=made.bytes,
        sha256=made.sha256,
        removed=[str(path) for path in removed],
        rows=made.rows,
        exact=made.exact,
    )


def prepare_folder(folder: Path) -> None:
    """Create the private folder, and remove temporary files of killed processes. Raises CannotWrite."""
    with writable(folder):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        remove_stale_parts(folder)
