"""Delivers the turns captured by hooks to the graph: each row once, however often it is tried."""

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
"""Seconds without changes after which a transcript is read for turns that its hooks have not reported."""

log = structlog.get_logger("librarian.capture")


class Ingest(Protocol):
    """Stores rows, as a Librarian and its clients do."""

    def __call__(self, rows: AsyncIterator[tuple[int, bytes]], /, *, namespace: str) -> Awaitable[IngestReport]:
        """Store the rows and return the report; rows stored before change nothing."""


class DeliveryReport(Struct, kw_only=True):
    """Numbers of rows stored and refused; the refused ones stay in `rejected.jsonl`."""

    stored: int = 0
    rejected: int = 0


class SpoolStatus(Struct, kw_only=True):
    """The spool's waiting rows and bytes, its capacity, and the number of refused rows."""

    folder: str
    waiting: int
    bytes: int
    max_bytes: int
    rejected: int
    sessions: int


class Delivery:
    """The spool of one home and the destination of its rows. Of several processes, one at a time delivers."""

    def __init__(self, home: Path, ingest: Ingest) -> None:
        self._folder = home / FOLDER
        self._ingest = ingest

    async def work(self) -> None:
        """Deliver rows as they arrive, until cancelled. Failures are logged and retried; the rows stay on disk."""
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
        """Store all waiting rows; with `catch_up` also turns in transcripts that no hook has reported.

        Does nothing while another process delivers. Raises the errors of the ingest, and OSError.
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
        with suppress(turn.SpoolFull):  # it is about to be emptied, and the rest is read next time
            await asyncio.to_thread(turn.caught_up, str(self._folder), idle_s)

    def _taken(self) -> bool:
        """Move the spool away from the hooks, unless an earlier one is not delivered yet."""
        taking = self._folder / _DELIVERING
        if taking.exists():
            return True
        with turn.Lock(str(self._folder)):
            if _size(self._folder / _SPOOL) == 0:
                return False
            (self._folder / _SPOOL).replace(taking)
        return True

    async def _store(self, report: DeliveryReport) -> None:
        delivering = self._folder / _DELIVERING
        lines = [line for line in (await asyncio.to_thread(delivering.read_bytes)).splitlines() if line]
        for namespace, rows in _by_namespace(lines).items():
            for start in range(0, len(rows), _CHUNK_ROWS):
                await self._store_chunk(namespace, rows[start : start + _CHUNK_ROWS], report)
        delivering.unlink()

    async def _store_chunk(self, namespace: str, rows: Sequence[bytes], report: DeliveryReport) -> None:
        stored = await self._ingest(_numbered(rows), namespace=namespace)
        refused = [rows[error.line - 1] for error in stored.errors]
        if refused:
            await asyncio.to_thread(self._reject, refused)
        report.stored += len(rows) - len(refused)
        report.rejected += len(refused)

    def _reject(self, rows: Sequence[bytes]) -> None:
        """Set aside rows that the graph will never accept."""
        file = os.open(self._folder / _REJECTED, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            if os.fstat(file).st_size < turn.MAX_SPOOL_BYTES:
                os.write(file, b"\n".join(rows) + b"\n")
        finally:
            os.close(file)


def status_of(home: Path) -> SpoolStatus:
    """Return the state of the spool of `home`."""
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
    """Group rows by namespace; a line damaged by a power cut comes again from the transcript."""
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
