"""Imports the namespaces of a file. The whole file is checked before the first write."""

import asyncio
import hashlib
import os
import socket
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, BinaryIO

import msgspec

from graph.executor import Executor
from graph.importing import Import, begin_import, clear_empty_groups, end_import, unfinished_import, write_chunk
from graph.ingest import finish_ingest
from graph.leases import leased
from graph.namespaces import delete_namespace, exists
from graph.spaces import built_at_once, count_pending
from graph.types import NewSpace
from librarian.base.errors import Conflict, InvalidExport, InvalidInput
from librarian.base.overlap import one_ahead
from librarian.base.settings.values import checked_namespace
from librarian.transfer.contracts import Existing, ImportReport
from librarian.transfer.reading import ExportFacts, Portion, examine, portions

Counted = Callable[[int, int], None]
"""Called with (rows settled, rows in total)."""

_LEASE = "import"
# Lets a killed import be resumed soon.
_LEASE_S = 10.0
_EDGE_ID_DIGITS = 24
_MOST_UIDS = 1000
_WITH_SWEEPS = frozenset({"refuse", "replace"})


async def import_from(
    executor: Executor,
    file: BinaryIO,
    into: str | None = None,
    *,
    existing: Existing = "refuse",
    even_if_forgotten: bool = False,
    on_progress: Counted | None = None,
) -> ImportReport:
    """Write all contents of the export `file` (seekable); `into` renames its only namespace.

    Forgotten items are held back and counted in the report, unless `even_if_forgotten`.

    An interrupted import resumes with the same file; any other one is refused. Raises InvalidExport before anything is
    written; Conflict if a namespace is not empty and `existing` is refuse, or holds part of another file; LeaseHeld
    while another import runs; InvalidInput.
    """
    facts = await asyncio.to_thread(examine, file)
    return await import_examined(
        executor, file, facts, into, existing=existing, even_if_forgotten=even_if_forgotten, on_progress=on_progress
    )


async def import_examined(
    executor: Executor,
    file: BinaryIO,
    facts: ExportFacts,
    into: str | None = None,
    *,
    existing: Existing,
    even_if_forgotten: bool,
    on_progress: Counted | None,
) -> ImportReport:
    """Import an examined file."""
    names = _targets(facts, into)
    who = f"an import on {socket.gethostname()} (process {os.getpid()})"
    async with leased(executor, _LEASE, who, _LEASE_S):
        jobs = await _begin(executor, facts, names, existing)
        work = _Work(executor, facts, jobs, names, existing, even_if_forgotten, on_progress)
        async with built_at_once(
            executor, [NewSpace(**msgspec.structs.asdict(space)) for space in facts.header.spaces]
        ):
            await work.run(file)
        await work.end()
    return await work.report()


def owner_of(facts: ExportFacts, existing: Existing) -> str:
    """Return the identity of an import of this file with these options."""
    return f"{facts.sha256} {existing}"


def _targets(facts: ExportFacts, into: str | None) -> dict[str, str]:
    """Return the target name of each namespace of the file."""
    found = list(facts.rows)
    if into is not None and len(found) != 1:
        raise InvalidInput(
            f"the file holds {len(found)} namespaces; only a single one can be renamed", field="namespace"
        )
    names = {name: into or name for name in found}
    for name in names.values():
        try:
            checked_namespace(name)
        except ValueError as error:
            raise InvalidExport(f"{name[:130]!r}: {error}") from None
    return names


async def _begin(
    executor: Executor, facts: ExportFacts, names: Mapping[str, str], existing: Existing
) -> dict[str, Import]:
    """Mark all namespaces as being imported, or none if one is refused; empty those to be replaced."""
    owner = owner_of(facts, existing)
    begun = {name: await unfinished_import(executor, name) for name in names.values()}
    for name, job in begun.items():
        await _refuse(executor, name, job, owner, existing)
    jobs = {}
    for source, name in names.items():
        job = begun[name]
        if existing == "replace" and (job is None or job.owner != owner or not job.done):
            job = await _replaced(executor, name, owner)
        jobs[source] = job or await begin_import(executor, name, owner)
    return jobs


async def _refuse(executor: Executor, name: str, job: Import | None, owner: str, existing: Existing) -> None:
    """Raise Conflict if `name` cannot be imported into."""
    if existing == "replace" or (job is not None and job.owner == owner):
        return
    if job is not None:
        raise Conflict(
            f"an import into {name!r} was interrupted, so it holds part of a file",
            field="namespace",
            remedy="Import that file again with the same options to finish it, or replace the namespace.",
        )
    if existing == "refuse" and await exists(executor, name):
        raise Conflict(
            f"the namespace {name!r} is not empty",
            field="namespace",
            remedy="Choose: skip existing items and add the rest, replace it, or import under another name.",
        )


async def _replaced(executor: Executor, name: str, owner: str) -> Import:
    """Mark the namespace, then empty it and return it; after an interruption the mark makes the import resume."""
    await end_import(executor, name)
    job = await begin_import(executor, name, owner)
    await delete_namespace(executor, name)
    return job


@dataclass(slots=True)
class _Work:
    """Writes one file."""

    executor: Executor
    facts: ExportFacts
    jobs: Mapping[str, Import]
    names: Mapping[str, str]
    existing: Existing
    even_if_forgotten: bool
    on_progress: Counted | None
    created: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    held_back: list[str] = field(default_factory=list)
    resembling: list[str] = field(default_factory=list)
    settled: int = 0

    async def run(self, file: BinaryIO) -> None:
        """Write the remaining rows, then those that span chunks."""
        self.settled = sum(job.done for job in self.jobs.values())
        source = portions(file)
        async with aclosing(one_ahead(lambda: asyncio.to_thread(next, source, None))) as ahead:
            async for portion in ahead:
                await self._write(portion)
        for name in self.names.values():
            if self.held_back:
                await clear_empty_groups(self.executor, name)
            await finish_ingest(self.executor, name)

    async def end(self) -> None:
        """Remove the marks, as the import is complete."""
        for name in self.names.values():
            await end_import(self.executor, name)

    async def report(self) -> ImportReport:
        """Return the report on the rows."""
        return ImportReport(
            namespaces=list(self.names.values()),
            created=dict(sorted(self.created.items())),
            skipped={section: count for section, count in sorted(self.skipped.items()) if count},
            resumed=any(job.done for job in self.jobs.values()),
            pending_embeddings=await count_pending(self.executor),
            held_back=len(self.held_back),
            held_back_uids=self.held_back[:_MOST_UIDS],
            resembling=len(self.resembling),
            resembling_uids=self.resembling[:_MOST_UIDS],
        )

    async def _write(self, portion: Portion) -> None:
        if portion.done <= self.jobs[portion.namespace].done:
            return
        rows = portion.rows
        name = self.names[portion.namespace]
        if name != portion.namespace:
            rows = [_renamed(row, name) for row in rows]
        # Runs of two histories may share an id, and undoing across them would be wrong.
        if portion.section in ("sweep", "change") and self.existing not in _WITH_SWEEPS:
            rows = []
        written = await write_chunk(
            self.executor,
            self.jobs[portion.namespace],
            portion.section,
            rows,
            portion.done,
            even_if_forgotten=self.even_if_forgotten,
        )
        self.created[portion.section] += written.created
        self.skipped[portion.section] += len(portion.rows) - written.created - len(written.held_back)
        self.held_back += written.held_back
        self.resembling += written.resembling
        self.settled += len(portion.rows)
        if self.on_progress is not None:
            self.on_progress(self.settled, sum(self.facts.rows.values()))


def _renamed(row: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a row of a namespace renamed to `name`: edge ids are unique in the whole graph, so they change,
    deterministically.
    """
    edge_id = row["properties"].get("edge_id")
    if not isinstance(edge_id, str):
        return row
    digest = hashlib.sha256(f"{name}\0{edge_id}".encode()).hexdigest()[:_EDGE_ID_DIGITS]
    return {**row, "properties": {**row["properties"], "edge_id": digest}}
