"""Several processes that serve one socket: started, supervised and stopped by one that does not serve."""

import asyncio
import fcntl
import hashlib
import mmap
import os
import signal
import socket
import struct
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import structlog

from librarian.base import metrics

ENCODER_THREADS = "LIBRARIAN_ENCODER_THREADS"
_SHORTEST_LIFE_S = 10.0
"""A worker that exits sooner than this would do so again."""

_ENTRY = struct.Struct("<Qd")  # hash of the caller (0: empty slot), and when their next request is due
_ENTRIES = 2**14
_LOOKED_AT = 8

log = structlog.stdlib.get_logger("librarian.http")


class SharedDues:
    """When the next request of each caller is due (librarian.http.limits), in a file shared by the processes of a
    service, which have the same monotonic clock. Its context gives exclusive access.

    A hash table of fixed size: a new caller without an empty slot replaces the one that was due longest ago.
    """

    SIZE = _ENTRIES * _ENTRY.size
    """Size of the file in bytes."""

    def __init__(self, file: int) -> None:
        self._file = file
        self._table = mmap.mmap(file, self.SIZE)

    def __enter__(self) -> None:
        fcntl.lockf(self._file, fcntl.LOCK_EX)

    def __exit__(self, *_: object) -> None:
        fcntl.lockf(self._file, fcntl.LOCK_UN)

    def pop(self, caller: str, default: float) -> float:
        """Return when the caller's next request is due; the value stays until it is set again."""
        who, at = self._slot(caller)
        found, due = _ENTRY.unpack_from(self._table, at)
        return float(due) if found == who else default

    def __setitem__(self, caller: str, due: float) -> None:
        who, at = self._slot(caller)
        _ENTRY.pack_into(self._table, at, who, due)

    def _slot(self, caller: str) -> tuple[int, int]:
        """Return the hash of a caller, and the offset of its existing or future slot."""
        who = int.from_bytes(hashlib.blake2b(caller.encode(), digest_size=8).digest(), "little") or 1
        slots = [(who + step) % _ENTRIES * _ENTRY.size for step in range(_LOOKED_AT)]
        entries = [(*_ENTRY.unpack_from(self._table, at), at) for at in slots]
        own = next((at for found, _, at in entries if found == who), None)
        return who, own if own is not None else min(entries, key=lambda entry: (entry[0] != 0, entry[1]))[2]


@dataclass(frozen=True, slots=True)
class WorkerSlot:
    """Inherited resources of a worker: its `number`, and the file descriptors of the socket and of the shared dues."""

    number: int
    listening: int
    dues: int

    def __str__(self) -> str:
        return f"{self.number}:{self.listening}:{self.dues}"

    @classmethod
    def of(cls, text: str) -> "WorkerSlot":
        """Parse the text form of a slot. Raises ValueError."""
        number, listening, dues = map(int, text.split(":"))
        return cls(number, listening, dues)

    def socket(self) -> socket.socket:
        """Return the socket on which all workers listen."""
        return socket.socket(fileno=self.listening)

    def shared_dues(self) -> SharedDues:
        """Return the callers' due times, shared by all workers."""
        return SharedDues(self.dues)


class Workers:
    """`count` processes of a command, each restarted when it exits on its own.

    The command gets the text of its slot. All stop on SIGTERM or SIGINT, at once on the second, and with this process
    however it ends, which they detect by their standard input. A worker that exits right after its start stops all.
    """

    def __init__(self, command: Callable[[WorkerSlot], Sequence[str]], listening: socket.socket, count: int) -> None:
        self._command = command
        self._listening = listening
        self._count = count
        self._running: set[asyncio.subprocess.Process] = set()
        self._ending = False

    async def run(self) -> int:
        """Return the exit code: that of the worker that stopped all, else 0."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._end)
        with _shared() as (dues, folder):
            env = {**os.environ, metrics.SHARED_FOLDER: folder}
            env.setdefault(ENCODER_THREADS, str(max(1, (os.cpu_count() or 1) // self._count)))
            slots = [WorkerSlot(number, self._listening.fileno(), dues) for number in range(self._count)]
            return max(await asyncio.gather(*(self._keep(slot, env, folder) for slot in slots)))

    async def _keep(self, slot: WorkerSlot, env: Mapping[str, str], folder: str) -> int:
        while True:
            began = time.monotonic()
            process = await asyncio.create_subprocess_exec(
                *self._command(slot),
                env=env,
                pass_fds=(slot.listening, slot.dues),
                stdin=asyncio.subprocess.PIPE,
                start_new_session=True,  # Ctrl-C goes to this process only, which stops them
            )
            self._running.add(process)
            if self._ending:
                process.terminate()
            code = await process.wait()
            self._running.discard(process)
            metrics.forget_worker(process.pid, folder)
            if self._ending:
                return 0
            if time.monotonic() - began < _SHORTEST_LIFE_S:
                self._end()
                return code if code > 0 else 1
            log.warning("worker ended", worker=slot.number, exit_code=code)

    def _end(self) -> None:
        self._ending = True
        for process in self._running:
            with suppress(ProcessLookupError):
                process.terminate()


@contextmanager
def _shared() -> Iterator[tuple[int, str]]:
    """Yield a file for the shared dues and a folder for metrics, for the block."""
    with tempfile.TemporaryFile() as dues, tempfile.TemporaryDirectory(prefix="librarian-metrics-") as folder:
        dues.truncate(SharedDues.SIZE)
        yield dues.fileno(), folder


def end_with_parent(end: Callable[[], None]) -> None:
    """Call `end` when the process at the other end of standard input has exited."""
    loop = asyncio.get_running_loop()

    def gone() -> None:
        if not os.read(sys.stdin.fileno(), 1):
            loop.remove_reader(sys.stdin.fileno())
            end()

    loop.add_reader(sys.stdin.fileno(), gone)
