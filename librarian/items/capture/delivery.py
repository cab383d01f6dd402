"""Brings what hooks have kept into the graph: each row once, however often it is tried."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

import msgspec
import structlog
from filelock import FileLock, Timeout
from msgspec import Struct

from librarian.base import audit
from librarian.base.problems import caught
from librarian.items.capture import turn
from librarian.items.contracts import IngestReport

FOLDER = "capture"
"""The folder of the spool, in the home."""
_SPOOL, _DELIVERING, _REJECTED = "spool.jsonl", "delivering.jsonl", "rejected.jsonl"
_CHUNK_ROWS = 500
_POLL_S = 0.1
_REST_S = 5.0
_CATCH_UP_S = 60.0
"""How long a transcript has to be silent before what its hooks have not told is read from it."""

log = structlog.get_logger("librarian.capture")


class Ingest(Protocol):
    """Stores rows, as a Librarian and its clients do."""

    def __call__(self, rows: AsyncIterator[tuple[int, bytes]], /, *, namespace: str) -> Awaitable[IngestReport]:
        """Return the report of what was stored; rows that were stored before change nothing."""


class DeliveryReport(Struct, kw_only=True):
    """How many rows were stored, and how many the graph refused; those stay in `rejected.jsonl`."""

    stored: int = 0
    rejected: int = 0


class SpoolStatus(Struct, kw_only=True):
    """What waits in the spool, in bytes and rows, of how much it may hold; and how many rows were refused."""

    folder: str
    waiting: int
    bytes: int
    max_bytes: int
    rejected: int
    sessions: int


class Delivery:
    """The spool of one home and where its rows go. Several processes may try: one at a time delivers."""

    def __init__(self, home: Path, ingest: Ingest) -> None:
        self._folder = home / FOLDER
        self._ingest = ingest

    async def work(self) -> None:
        """Deliver rows as they come, until cancelled. Faults are logged and tried again; the rows stay on the disk."""
        audit.actor.set("capture")
        reported, next_look = "", 0.0
        while True:
            clock = asyncio.get_running_loop().time()
            catch_up = clock >= next_look
            error = await caught(self._deliver_if_needed(catch_up=catch_up))
            if catch_up:
                next_look = clock + _CATCH_UP_S
            if error is not None and str(error) != reported:
                reported = str(error)
                log.warning("captured turns wait", reason=reported)
            await asyncio.sleep(_REST_S if error is not None else _POLL_S)

    async def _deliver_if_needed(self, *, catch_up: bool) -> None:
        if catch_up or any(_size(self._folder / name) for name in (_SPOOL, _DELIVERING)):
            await self.deliver(catch_up=catch_up)

    async def deliver(self, *, catch_up: bool = True, idle_s: float = _CATCH_UP_S) -> DeliveryReport:
        """Store everything that waits; with `catch_up` also what transcripts hold that no hook has told of.

        Nothing is left to do while another process delivers. Raises what the ingest raises, and OSError.
        """
        report = DeliveryReport()
        if not self._folder.exists():
            return report
        lock = FileLock(self._folder / "delivery.lock", timeout=0, mode=0o600)
        with suppress(Timeout), lock:
            if catch_up:
                await self._catch_up(idle_s)
            while await asyncio.to_thread(self._taken):
                await self._store(report)
        return report

    async def _catch_up(self, idle_s: float) -> None:
        with suppress(turn.SpoolFull):  # it is emptied now, and the rest is read the next time
            await asyncio.to_thread(turn.caught_up, str(self._folder), idle_s)

    def _taken(self) -> bool:
        """Take the spool away from the hooks, unless one that was taken is not delivered yet."""
        taking = self._folder / _DELIVERING
        if taking.exists():
            return True
        with turn.Lock(str(self._folder)):
            if _size(self._folder / _SPOOL) == 0:
                return False
            (self._folder / _SPOOL).replace(taking)
        return True

    async def _store(self, report: DeliveryReport) -> None:
        taken = self._folder / _DELIVERING
        lines = [line for line in (await asyncio.to_thread(taken.read_bytes)).splitlines() if line]
        for namespace, rows in _by_namespace(lines).items():
            for start in range(0, len(rows), _CHUNK_ROWS):
                await self._store_chunk(namespace, rows[start : start + _CHUNK_ROWS], report)
        taken.unlink()

    async def _store_chunk(self, namespace: str, rows: Sequence[bytes], report: DeliveryReport) -> None:
        stored = await self._ingest(_numbered(rows), namespace=namespace)
        refused = [rows[error.line - 1] for error in stored.errors]
        if refused:
            await asyncio.to_thread(self._reject, refused)
        report.stored += len(rows) - len(refused)
        report.rejected += len(refused)

    def _reject(self, rows: Sequence[bytes]) -> None:
        """Set rows aside that the graph does not take, and never will."""
        file = os.open(self._folder / _REJECTED, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            if os.fstat(file).st_size < turn.MAX_SPOOL_BYTES:
                os.write(file, b"\n".join(rows) + b"\n")
        finally:
            os.close(file)


def status_of(home: Path) -> SpoolStatus:
    """Return what waits in the spool of `home`."""
    folder = home / FOLDER
    waiting = [folder / name for name in (_SPOOL, _DELIVERING)]
    return SpoolStatus(
        folder=str(folder),
        waiting=sum(map(_rows, waiting)),
        bytes=sum(map(_size, waiting)),
        max_bytes=turn.MAX_SPOOL_BYTES,
        rejected=_rows(folder / _REJECTED),
        sessions=len(list((folder / "sessions").glob("*.json"))),
    )


async def _numbered(rows: Sequence[bytes]) -> AsyncIterator[tuple[int, bytes]]:
    for number, row in enumerate(rows, start=1):
        yield number, row


class _Named(Struct):
    namespace: str


def _by_namespace(lines: Sequence[bytes]) -> dict[str, list[bytes]]:
    """Sort rows by their namespaces; a line that a power cut has damaged is the transcript's to bring again."""
    sorted_rows: dict[str, list[bytes]] = {}
    for line in lines:
        with suppress(msgspec.DecodeError):
            sorted_rows.setdefault(msgspec.json.decode(line, type=_Named).namespace, []).append(line)
    return sorted_rows


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _rows(path: Path) -> int:
    try:
        return sum(1 for line in path.read_bytes().splitlines() if line)
    except FileNotFoundError:
        return 0
