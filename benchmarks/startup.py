"""Start times: `librarian --help`, `librarian serve` on a new home, on an existing one, and after kill -9 of the
database.
"""

import asyncio
import os
import signal
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.common import main, progress, report
from benchmarks.serving import served
from graph.local.server import ManagedServer
from librarian.base.settings.settings import Settings

_BIN = Path(sys.executable).parent / "librarian"


async def help_seconds() -> float:
    """Best of five runs of `librarian --help`."""
    best = float("inf")
    for _ in range(5):
        started = time.perf_counter()
        process = await asyncio.create_subprocess_exec(_BIN, "--help", stdout=asyncio.subprocess.DEVNULL)
        await process.wait()
        best = min(best, time.perf_counter() - started)
    return best


async def ready_seconds(settings: Settings, *, kill: bool = False) -> float:
    """Seconds from the command to `/readyz`; afterwards the service stops, its database cleanly or killed."""
    started = time.perf_counter()
    async with served(settings):
        seconds = time.perf_counter() - started
        pid = ManagedServer(settings.home, settings.cache).status().pid
        if kill and pid is not None:
            keeper = ManagedServer(settings.home, settings.cache).status().keeper_pid
            if keeper is not None:
                os.kill(keeper, signal.SIGKILL)
            os.kill(pid, signal.SIGKILL)
    await ManagedServer(settings.home, settings.cache).stop()
    return seconds


async def benchmark() -> None:
    """Measure four starts of one home."""
    rows: list[dict[str, Any]] = [{"what": "librarian --help, best of 5", "seconds": round(await help_seconds(), 2)}]
    with TemporaryDirectory(prefix="librarian-bench-") as folder:
        settings = Settings.from_env({**os.environ, "LIBRARIAN_HOME": str(Path(folder) / "home")})
        for what, kill in (
            ("serve, new home, warm artifact cache", False),
            ("serve, existing home after a clean stop", True),
            ("serve, existing home after kill -9 of database and keeper", False),
        ):
            progress(what)
            rows.append({"what": what, "seconds": round(await ready_seconds(settings, kill=kill), 1)})
    report("startup", rows)


if __name__ == "__main__":
    main(benchmark)
