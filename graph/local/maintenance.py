"""Announces work that takes a home's server down to everybody waiting for it.

The announcement is a file kept locked by its process, so it ends with that process, kill -9 included.
"""

import contextlib
import os
from collections.abc import Iterator

from graph.local.errors import ServerTimeout
from graph.local.filelock import is_held, try_acquire
from graph.local.home import Home


@contextlib.contextmanager
def announced(home: Home, what: str) -> Iterator[None]:
    """Announce for the block that `what` is under way. Raises ServerTimeout if other work already is."""
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
    """Return what is currently under way, or an empty text."""
    if not is_held(home.maintenance_lock):
        return ""
    return home.maintenance_lock.read_text(encoding="utf-8").strip() or "maintenance"
