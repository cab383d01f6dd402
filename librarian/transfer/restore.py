"""Restores a whole graph from a file: into an empty one, or replacing another, which is backed up first."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from graph.executor import Executor
from graph.exporting import all_namespaces
from graph.importing import end_import, unfinished_import
from graph.namespaces import delete_namespace
from librarian.base.errors import Conflict
from librarian.transfer.backup import back_up
from librarian.transfer.contracts import Existing, RestoreReport
from librarian.transfer.import_ import import_examined, owner_of
from librarian.transfer.reading import ExportFacts, examine
from librarian.transfer.retention import Retention

Counted = Callable[[int, int], None]

_EVERYTHING_STAYS = Retention()
_MODES: tuple[Existing, ...] = ("refuse", "replace")


async def restore_from(
    executor: Executor,
    file: BinaryIO,
    backups: Path,
    *,
    replace: bool = False,
    even_if_forgotten: bool = False,
    on_progress: Counted | None = None,
) -> RestoreReport:
    """Replace the contents of the graph by those of the export `file`; items forgotten since are held back.

    A graph that is not empty is refused (Conflict) unless `replace`: then it is first backed up into the folder
    `backups`. An interrupted restore resumes with the same file. Raises InvalidExport before anything is changed.
    """
    facts = await asyncio.to_thread(examine, file)
    held = await all_namespaces(executor)
    mode = await _earlier_mode(executor, facts, held)
    safety = None
    if mode is None:
        mode, safety = await _cleared(executor, facts, held, backups, replace=replace)
    restored = await import_examined(
        executor, file, facts, existing=mode, even_if_forgotten=even_if_forgotten, on_progress=on_progress
    )
    return RestoreReport(restored=restored, safety_backup=safety)


async def _earlier_mode(executor: Executor, facts: ExportFacts, held: list[str]) -> Existing | None:
    """Return how an earlier run began to restore this file, if all contents of the graph come from it."""
    if not held:
        return None
    for mode in _MODES:
        unfinished = [await unfinished_import(executor, name) for name in held]
        if all(job is not None and job.owner == owner_of(facts, mode) for job in unfinished):
            return mode
    return None


async def _cleared(
    executor: Executor, facts: ExportFacts, held: list[str], backups: Path, *, replace: bool
) -> tuple[Existing, str | None]:
    """Back up the graph and delete what the file does not replace; return how to import then, and the backup."""
    if not held:
        return "refuse", None
    if not replace:
        raise Conflict(
            f"the graph holds {len(held)} namespaces already; nothing was changed",
            remedy="Restore into an empty home, or choose to replace the graph (it is backed up first).",
        )
    safety = await back_up(executor, backups, _EVERYTHING_STAYS)
    for name in held:
        if name not in facts.rows:
            await delete_namespace(executor, name)
            await end_import(executor, name)
    return "replace", safety.file
