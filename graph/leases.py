"""Leases among processes: one holder per name, renewed while it works; after a crash another takes over in time."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from graph.errors import GraphError, LeaseHeld
from graph.executor import Executor
from graph.types import native

TTL_S = 20.0
"""Seconds that a lease lasts unless it is renewed."""

_PATIENCE_S = 5.0
"""Seconds that work which was cancelled waits for its lease to be released; without the database it would wait longer
than the lease lasts.
"""

logger = logging.getLogger("librarian.graph")


@dataclass(slots=True)
class Lease:
    """A lease that we hold; statements that check `owner` refuse to work once another process has it. `lost` is true
    once a renewal has found another owner.
    """

    name: str
    owner: str
    lost: bool = False


@asynccontextmanager
async def leased(executor: Executor, name: str, who: str, ttl_s: float = TTL_S) -> AsyncIterator[Lease]:
    """Hold the lease `name`, renewed in the background. Raises LeaseHeld, which names the holder, if another process
    has it.
    """
    lease = Lease(name, f"{who} {uuid4().hex}")
    (row,) = await executor.write("take_lock", {"name": name, "owner": lease.owner, "ttl_s": ttl_s})
    if not row["taken"]:
        until = native(row["expires_at"])
        holder = row["owner"].rpartition(" ")[0]
        raise LeaseHeld(f"lease held by {holder}; it ends at {until:%H:%M:%S} UTC unless it is renewed", holder)
    renewal = asyncio.create_task(_renew(executor, lease, ttl_s))
    patience_s = None
    try:
        yield lease
    except asyncio.CancelledError:
        patience_s = _PATIENCE_S
        raise
    finally:
        await _to_the_end(_end(executor, lease, renewal, patience_s))


async def _renew(executor: Executor, lease: Lease, ttl_s: float) -> None:
    """Renew three times per lifetime, so that one failure costs nothing."""
    while not lease.lost:
        await asyncio.sleep(ttl_s / 3)
        try:
            rows = await executor.write("renew_lock", {"name": lease.name, "owner": lease.owner, "ttl_s": ttl_s})
            lease.lost = not rows
        except GraphError as error:
            logger.warning("lease not renewed", extra={"reason": str(error)})


async def _to_the_end(work: Coroutine[Any, Any, None]) -> None:
    """Finish the work even if cancelled, then raise: whoever cancels may close the driver right after."""
    task = asyncio.create_task(work)
    cancelled = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled
    task.result()


async def _end(executor: Executor, lease: Lease, renewal: asyncio.Task[None], patience_s: float | None) -> None:
    renewal.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await renewal
    try:
        async with asyncio.timeout(patience_s):
            await executor.write("release_lock", {"name": lease.name, "owner": lease.owner})
    except (GraphError, TimeoutError) as error:
        logger.warning("lease not released, it will expire", extra={"reason": str(error)})
