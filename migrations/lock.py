"""The lock that lets one process migrate at a time.

It is a node with an owner and an expiry by the server's clock. The owner renews it while it works; after a crash
another process takes over once it expires. Every lock taken has its own owner name, so nobody mistakes another's lock
for theirs.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from uuid import uuid4

from graph.errors import GraphError
from graph.executor import Executor
from migrations.errors import LockLost, MigrationLocked

NAME = "migrations"

logger = logging.getLogger("librarian.migrations")


@dataclass(frozen=True, slots=True)
class LockTimes:
    """Times in seconds: lifetime of a lock unless renewed, interval of waiters' attempts, and their longest wait."""

    ttl_s: float = 30.0
    poll_s: float = 0.5
    wait_s: float = 300.0


class HeldLock:
    """A lock that we hold. `owner` is the name on the node; `lost` is true once a renewal found another owner."""

    def __init__(self, owner: str) -> None:
        self.owner = owner
        self.lost = False

    def require(self) -> None:
        """Raise LockLost unless the last renewal found the lock still ours."""
        if self.lost:
            raise LockLost


@asynccontextmanager
async def held(executor: Executor, who: str, times: LockTimes) -> AsyncIterator[HeldLock]:
    """Hold the lock, renewed in the background. Raises MigrationLocked if others keep it for `wait_s`."""
    lock = HeldLock(f"{who} {uuid4().hex}")
    await _take(executor, lock.owner, times)
    renewal = asyncio.create_task(_renew(executor, lock, times.ttl_s))
    try:
        yield lock
    finally:
        renewal.cancel()
        with suppress(asyncio.CancelledError):
            await renewal
        await _release(executor, lock.owner)


async def _take(executor: Executor, owner: str, times: LockTimes) -> None:
    give_up_at = time.monotonic() + times.wait_s
    while True:
        (row,) = await executor.write("take_lock", {"name": NAME, "owner": owner, "ttl_s": times.ttl_s})
        if row["taken"]:
            return
        if time.monotonic() >= give_up_at:
            who = row["owner"].rpartition(" ")[0]
            raise MigrationLocked(
                f"{who} has migrated this graph for over {times.wait_s:g} s. Try again when it has finished."
            )
        await asyncio.sleep(times.poll_s)


async def _renew(executor: Executor, lock: HeldLock, ttl_s: float) -> None:
    """Renew three times per lifetime, so that one failure costs nothing."""
    while not lock.lost:
        await asyncio.sleep(ttl_s / 3)
        try:
            rows = await executor.write("renew_lock", {"name": NAME, "owner": lock.owner, "ttl_s": ttl_s})
        except GraphError as error:
            logger.warning("migration lock not renewed", extra={"reason": str(error)})
        else:
            lock.lost = not rows


async def _release(executor: Executor, owner: str) -> None:
    try:
        await executor.write("release_lock", {"name": NAME, "owner": owner})
    except GraphError as error:
        logger.warning("migration lock not released, it will expire", extra={"reason": str(error)})
