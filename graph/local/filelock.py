"""Advisory locks on files (flock): held by an open file, and released when its process ends, kill -9 included.

`fcntl` is imported on use: native Windows has none and needs none, since it runs no managed server.
"""

import asyncio
import contextlib
import os
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

from graph.local.errors import ServerTimeout

_POLL_S = 0.05


def try_acquire(path: Path) -> int | None:
    """Lock `path` (created if missing) for this process alone; return the descriptor that holds it, or None if it is
    taken.

    Closing the descriptor releases the lock. The file itself must never be deleted: two processes would lock two files.
    """
    import fcntl

    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


def is_held(path: Path) -> bool:
    """Return whether some process currently holds the lock on `path`."""
    import fcntl

    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        # A shared lock: several processes can check at once without mistaking each other for the holder.
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


@contextlib.contextmanager
def attempt(path: Path) -> Iterator[bool]:
    """Try to hold the lock for the block; yields whether it is held."""
    descriptor = try_acquire(path)
    try:
        yield descriptor is not None
    finally:
        if descriptor is not None:
            os.close(descriptor)


@contextlib.asynccontextmanager
async def exclusive(path: Path, *, timeout_s: float) -> AsyncIterator[int]:
    """Hold the lock for the block, waiting up to `timeout_s` seconds (ServerTimeout) for its current holder; yields the
    descriptor that holds it.
    """
    deadline = time.monotonic() + timeout_s
    while (descriptor := try_acquire(path)) is None:
        if time.monotonic() > deadline:
            raise ServerTimeout(f"{path} has been locked by another process for {timeout_s:.0f} s.")
        await asyncio.sleep(_POLL_S)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
