"""Memory of this machine, or of the container that we run in."""

import contextlib
from pathlib import Path

import psutil

_CONTAINER_LIMIT = Path("/sys/fs/cgroup/memory.max")


def memory_mb(container_limit: Path = _CONTAINER_LIMIT) -> int:
    """Return the megabytes of memory that may be used: the machine's, or a container's lower limit (cgroup v2)."""
    total = int(psutil.virtual_memory().total)
    with contextlib.suppress(OSError, ValueError):  # no such file, or "max"
        total = min(total, int(container_limit.read_text(encoding="ascii")))
    return total // 2**20
