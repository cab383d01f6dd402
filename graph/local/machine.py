"""How much memory this machine, or the container that we are in, has."""

import contextlib
from pathlib import Path

import psutil

_CONTAINER_LIMIT = Path("/sys/fs/cgroup/memory.max")


def memory_mb(container_limit: Path = _CONTAINER_LIMIT) -> int:
    """Megabytes of memory that may be used: the machine's, or less where a container's limit (cgroup v2) says so."""
    total = int(psutil.virtual_memory().total)
    with contextlib.suppress(OSError, ValueError):  # no such file, or "max"
        total = min(total, int(container_limit.read_text(encoding="ascii")))
    return total // 2**20
