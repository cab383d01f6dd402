"""The lease that lets one process migrate at a time, and the patience of those that wait for it."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from graph.errors import LeaseHeld
from graph.executor import Executor
from graph.leases import Lease, leased
from migrations.errors import MigrationLocked

NAME = "migrations"


@dataclass(frozen=True, slots=True)
class LockTimes:
    """Times in seconds: lifetime of a lease unless renewed, interval of waiters' attempts, and their longest wait."""

    ttl_s: float = 30.0
    poll_s: float = 0.5
    wait_s: float = 300.0


@asynccontextmanager
async def held(executor: Executor, who: str, times: LockTimes) -> AsyncIterator[Lease]:
    """Hold the lease. Raises MigrationLocked if others keep it for `wait_s`."""
    give_up_at = time.monotonic() + times.wait_s
    async with AsyncExitStack() as stack:
        while True:
            try:
                lease = await stack.enter_async_context(leased(executor, NAME, who, times.ttl_s))
                break
            except LeaseHeld as error:
                if time.monotonic() >= give_up_at:
                    raise MigrationLocked(
                        f"{error.holder} has migrated this graph for over {times.wait_s:g} s. "
                        "Try again when it has finished."
                    ) from None
            await asyncio.sleep(times.poll_s)
        yield lease
