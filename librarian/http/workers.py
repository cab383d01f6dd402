"""Several processes that serve one socket: started, watched and ended by one that serves nothing itself."""

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
"""A worker that ends by itself sooner than that would end again."""

_ENTRY = struct.Struct("<Qd")  # who (0: nobody), and when their next request would be on time
_ENTRIES = 2**14
_LOOKED_AT = 8

log = structlog.stdlib.get_logger("librarian.http")


class SharedDues:
    """When the next request of each caller would be on time (librarian.http.limits), in a file that the processes of a
    service have open: their monotonic clock is one. Within its context no other process reads or writes it.

    A hash table of fixed size: where a new caller finds no room, the one who was due longest ago
    is forgotten.
    """

    SIZE = _ENTRIES * _ENTRY.size
    """Bytes of the file."""

    def __init__(self, file: int) -> None:
        self._file = file
        self._table = mmap.mmap(file, self.SIZE)

    def __enter__(self) -> None:
        fcntl.lockf(self._file, fcntl.LOCK_EX)

    def __exit__(self, *_: object) -> None:
        fcntl.lockf(self._file, fcntl.LOCK_UN)

    def pop(self, caller: str, default: float) -> float:
        """Return when the caller's next request would be on time; it stays until it is set anew."""
        who, at = self._place(caller)
        found, due = _ENTRY.unpack_from(self._table, at)
        return float(due) if found == who else default

    def __setitem__(self, caller: str, due: float) -> None:
        who, at = self._place(caller)
        _ENTRY.pack_into(self._table, at, who, due)

    def _place(self, caller: str) -> tuple[int, int]:
        """The number of a caller, and where in the table it is or may be put."""
        who = int.from_bytes(hashlib.blake2b(caller.encode(), digest_size=8).digest(), "little") or 1
        places = [(who + step) % _ENTRIES * _ENTRY.size for step in range(_LOOKED_AT)]
        entries = [(*_ENTRY.unpack_from(self._table, at), at) for at in places]
        own = next((at for found, _, at in entries if found == who), None)
        return who, own if own is not None else min(entries, key=lambda entry: (entry[0] != 0, entry[1]))[2]


@dataclass(frozen=True, slots=True)
class Place:
    """What a worker is given: its `number` among them, and the files of the socket and of what callers have used up."""

    number: int
    listening: int
    dues: int

    def __str__(self) -> str:
        return f"{self.number}:{self.listening}:{self.dues}"

    @classmethod
    def of(cls, text: str) -> "Place":
        """Return the place that `str` of one gives. Raises ValueError."""
        number, listening, dues = map(int, text.split(":"))
        return cls(number, listening, dues)

    def socket(self) -> socket.socket:
        """Return the socket on which all workers listen."""
        return socket.socket(fileno=self.listening)

    def shared_dues(self) -> SharedDues:
        """Return what callers have used up, by all workers."""
        return SharedDues(self.dues)


class Workers:
    """`count` processes of a command, each started again when it ends by itself.

    The command is given the text of its place. All end on SIGTERM or SIGINT, at once on the second, and with
    this process however that ends: they notice by their standard input. One that ends as soon as it was started
    ends all.
    """

    def __init__(self, command: Callable[[Place], Sequence[str]], listening: socket.socket, count: int) -> None:
        self._command = command
        self._listening = listening
        self._count = count
        self._running: set[asyncio.subprocess.Process] = set()
        self._ending = False

    async def run(self) -> int:
        """Return the exit code: that of the worker that ended all, else 0."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._end)
        with _shared() as (dues, folder):
            env = {**os.environ, metrics.SHARED_FOLDER: folder}
            env.setdefault(ENCODER_THREADS, str(max(1, (os.cpu_count() or 1) // self._count)))
            places = [Place(number, self._listening.fileno(), dues) for number in range(self._count)]
            return max(await asyncio.gather(*(self._keep(place, env, folder) for place in places)))

    async def _keep(self, place: Place, env: Mapping[str, str], folder: str) -> int:
        while True:
            began = time.monotonic()
            process = await asyncio.create_subprocess_exec(
                *self._command(place),
                env=env,
                pass_fds=(place.listening, place.dues),
                stdin=asyncio.subprocess.PIPE,
                start_new_session=True,  # Ctrl-C is for this process, which tells them
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
            log.warning("worker ended", worker=place.number, exit_code=code)

    def _end(self) -> None:
        self._ending = True
        for process in self._running:
            with suppress(ProcessLookupError):
                process.terminate()


@contextmanager
def _shared() -> Iterator[tuple[int, str]]:
    """A file of what callers have used up, and a folder for metrics, for as long as the block."""
    with tempfile.TemporaryFile() as dues, tempfile.TemporaryDirectory(prefix="librarian-metrics-") as folder:
        dues.truncate(SharedDues.SIZE)
        yield dues.fileno(), folder


def end_with_parent(end: Callable[[], None]) -> None:
    """Call `end` when the process at the other end of the standard input has gone."""
    loop = asyncio.get_running_loop()

    def gone() -> None:
        if not os.read(sys.stdin.fileno(), 1):
            loop.remove_reader(sys.stdin.fileno())
            end()

    loop.add_reader(sys.stdin.fileno(), gone)
