"""What is being done to a home that takes its server down: told to everybody who waits for it.

The word stands in a file that its speaker keeps locked, so it ends with that process, kill -9 included.
"""

import contextlib
import os
from collections.abc import Iterator

from graph.local.errors import ServerTimeout
from graph.local.filelock import is_held, try_acquire
from graph.local.home import Home


@contextlib.contextmanager
def announced(home: Home, what: str) -> Iterator[None]:
    """Say for the block that `what` is under way. Raises ServerTimeout where something else is."""
    descriptor = try_acquire(home.maintenance_lock)
    if descriptor is None:
        raise ServerTimeout(f"{under_way(home) or 'Something else'} is under way. Try again when it has ended.")
    try:
        os.ftruncate(descriptor, 0)
        os.write(descriptor, what.encode())
        yield
    finally:
        os.ftruncate(descriptor, 0)
        os.close(descriptor)


def under_way(home: Home) -> str:
    """Return what is under way at this moment; empty for nothing."""
    if not is_held(home.maintenance_lock):
        return ""
    return home.maintenance_lock.read_text(encoding="utf-8").strip() or "maintenance"
