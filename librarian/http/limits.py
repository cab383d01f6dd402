"""Load limits: a rate for each caller, and slots with a bounded queue for all."""

import asyncio
import math
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Protocol

from prometheus_client import Gauge

from librarian.base import metrics
from librarian.base.errors import NotReady, Overloaded, TooManyRequests
from librarian.base.settings.settings import HttpSettings
from librarian.base.settings.values import Rate

# Failures allowed for one address. Valid keys are not subject to it, so nobody behind the same proxy is locked out.
FAILED_AUTHENTICATIONS = Rate(60, 60.0)

_MOST_CALLERS = 10_000
_OVERLOADED_RETRY_S = 1
_STOPPING_RETRY_S = 2
_FOLLOW_RETRY_S = 10


class Dues(dict[str, float]):
    """The time at which each caller's next request is due, by the monotonic clock, oldest caller first.

    The oldest callers are dropped.
    """

    def __enter__(self) -> None:
        """Enter exclusive access, which a single process always has."""

    def __exit__(self, *_: object) -> None:
        if len(self) > _MOST_CALLERS:
            del self[next(iter(self))]


class KeptDues(Protocol):
    """A store of due times; its context gives exclusive access."""

    def __enter__(self) -> None: ...
    def __exit__(self, *_: object) -> None: ...
    def pop(self, caller: str, default: float, /) -> float:
        """Return when the caller's next request is due, until it is set again."""

    def __setitem__(self, caller: str, due: float, /) -> None: ...


class RateLimiter:
    """At most `rate` for each caller: a burst of the whole number, then evenly spaced (generic cell rate algorithm).

    It keeps one float per caller, in `dues`. (PyPI's `limits` counts in wall-clock time and starts a thread, or tasks
    with threads, to drop its counters.)
    """

    def __init__(
        self, rate: Rate, *, dues: KeptDues | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.rate = rate
        self._clock = clock
        self._dues: KeptDues = Dues() if dues is None else dues

    def take(self, caller: str) -> float:
        """Count one request: return 0 if it may proceed, else the seconds until one may. Refused ones do not count."""
        if not self.rate.requests:
            return 0.0
        with self._dues:
            now = self._clock()
            interval = self.rate.per_s / self.rate.requests
            due = max(self._dues.pop(caller, now), now)
            wait = due + interval - self.rate.per_s - now
            granted = wait <= interval * 1e-6  # rounding errors
            self._dues[caller] = due + interval if granted else due
        return 0.0 if granted else wait


class Capacity:
    """A number of requests run, further ones wait in order, and the rest are refused at once with a retry time."""

    def __init__(self, *, running: int, queued: int, held: Gauge = metrics.running) -> None:
        self._slots = asyncio.Semaphore(running)
        self._held = held
        self._most_queued = queued
        self._queued = 0
        self.closed = False

    def close(self) -> None:
        """Refuse new requests; running and waiting ones continue."""
        self.closed = True

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Hold one slot, waiting for it if necessary. Raises Overloaded, or NotReady when the service is stopping."""
        if self.closed:
            raise NotReady("The service is stopping.", phase="stopping", retry_after_s=_STOPPING_RETRY_S)
        if self._slots.locked() and self._queued >= self._most_queued:
            metrics.refused.labels("overloaded").inc()
            raise Overloaded(retry_after_s=_OVERLOADED_RETRY_S)
        await self._acquire()
        try:
            with self._held.track_inprogress():
                yield
        finally:
            self._slots.release()

    async def _acquire(self) -> None:
        self._queued += 1
        try:
            with metrics.queued.track_inprogress():
                await self._slots.acquire()
        finally:
            self._queued -= 1


class Limits:
    """The limits of one process; the callers' rates are kept in `dues`, which other workers of the service may share.
    Replicas count separately.

    Search agents have separate slots: they mostly wait for other services, and must not block searches meanwhile.
    """

    def __init__(self, http: HttpSettings, dues: KeptDues | None = None) -> None:
        self.capacity = Capacity(running=http.max_concurrent, queued=http.max_queued)
        self.agents = Capacity(running=http.max_agents, queued=0, held=metrics.agent_running)
        self._keys = RateLimiter(http.rate_limit, dues=dues)
        self._most_followers = http.max_change_streams
        self._followers: Counter[str] = Counter()
        self._failures = RateLimiter(FAILED_AUTHENTICATIONS, dues=dues)

    def close(self) -> None:
        """Refuse new requests; running and waiting ones continue."""
        self.capacity.close()
        self.agents.close()

    def check_following(self, key_id: str) -> None:
        """Raise TooManyRequests if an API key has the maximum number of change streams."""
        if self._followers[key_id] >= self._most_followers:
            metrics.refused.labels("change_streams").inc()
            raise TooManyRequests(
                f"This API key already has {self._most_followers} open streams of changes.",
                retry_after_s=_FOLLOW_RETRY_S,
                remedy="Close a stream; the operator can raise LIBRARIAN_MAX_CHANGE_STREAMS.",
            )

    @contextmanager
    def following(self, key_id: str) -> Iterator[None]:
        """Count a change stream of an API key during the block. Raises TooManyRequests."""
        self.check_following(key_id)
        self._followers[key_id] += 1
        try:
            yield
        finally:
            self._followers[key_id] -= 1

    def count_request(self, key_id: str) -> None:
        """Count a request of an API key. Raises TooManyRequests."""
        wait = self._keys.take(key_id)
        if wait:
            metrics.refused.labels("rate_limit").inc()
            raise TooManyRequests(
                f"This API key has used up its {self._keys.rate} requests.",
                retry_after_s=math.ceil(wait),
                remedy="Send fewer; the operator can raise LIBRARIAN_RATE_LIMIT.",
            )

    def count_failure(self, address: str) -> None:
        """Count a failed authentication from an address. Raises TooManyRequests."""
        wait = self._failures.take(f"address {address}")
        if wait:
            metrics.refused.labels("failed_authentication").inc()
            raise TooManyRequests(
                "Too many requests without a valid API key came from this address.",
                retry_after_s=math.ceil(wait),
                remedy="Send `Authorization: Bearer <key>` with a valid key.",
            )
