"""Threads that run blocking model calls beside the event loop, queries before passages."""

import asyncio
import heapq
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from enum import IntEnum
from itertools import count
from typing import TypeVar

from retrieval.encoders.errors import EncoderUnavailable

T = TypeVar("T")

_CLOSED = "the encoder is closed"


class Priority(IntEnum):
    """Lower runs first."""

    QUERY = 0
    PASSAGE = 1


class Workers:
    """A pool of `threads` threads; calls are run by priority, then first come, first served. One event loop only.

    A running call is not interrupted, so a query may wait for one: keep calls short. A call that is cancelled before
    its turn never runs.
    """

    def __init__(self, threads: int, *, name: str) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=name)
        # One call more than threads is admitted, so that no thread idles while the loop admits the next.
        self._free = threads + 1
        self._waiting: list[tuple[Priority, int, asyncio.Future[None]]] = []
        self._numbers = count()
        self._closed = False

    async def run(self, priority: Priority, call: Callable[[], T]) -> T:
        """Run `call` in one of the threads and return its result. Raises EncoderUnavailable after `aclose`."""
        if self._closed:
            raise EncoderUnavailable(_CLOSED)
        await self._turn(priority)
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, call)
        finally:
            self._pass_on()

    def waiting(self) -> dict[str, int]:
        """Return the number of waiting calls by priority ("query" and "passage")."""
        counts = Counter(priority for priority, _, turn in self._waiting if not turn.done())
        return {priority.name.lower(): counts[priority] for priority in Priority}

    async def aclose(self) -> None:
        """Finish the running calls and end the threads; waiting and later calls fail."""
        self._closed = True
        for *_, turn in self._waiting:
            if not turn.done():
                turn.set_exception(EncoderUnavailable(_CLOSED))
        self._waiting.clear()
        await asyncio.to_thread(self._pool.shutdown)

    async def _turn(self, priority: Priority) -> None:
        """Wait until a call of this priority may run."""
        if self._free:
            self._free -= 1
            return
        turn = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiting, (priority, next(self._numbers), turn))
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():
                self._pass_on()
            raise

    def _pass_on(self) -> None:
        """Give the free turn to the next call in the queue."""
        while self._waiting:
            *_, turn = heapq.heappop(self._waiting)
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1
