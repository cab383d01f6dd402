"""Commands beside a running service: the cost of asking it and the cost of opening the graph, one after the other."""

import asyncio
import os
import statistics
import sys
import time
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.common import main, progress, report
from benchmarks.serving import served
from graph.local.server import ManagedServer
from librarian.base.settings.settings import Settings

_BIN = Path(sys.executable).parent / "librarian"
_ROUNDS = 3
_SEARCH = ("search", "why did the deploy fail?", "-n", "sample")
_COMMANDS: Mapping[str, tuple[str, ...]] = {
    "search, the service asked": _SEARCH,
    "search --json, the service asked": (*_SEARCH, "--json"),
    "search, the graph opened": ("--local", *_SEARCH),
    "--help": ("--help",),
    "search --help": ("search", "--help"),
}


async def measured(arguments: tuple[str, ...], env: Mapping[str, str]) -> tuple[float, float]:
    """Run a command; return its wall-clock and processor seconds."""
    before, started = os.times(), time.perf_counter()
    process = await asyncio.create_subprocess_exec(_BIN, *arguments, env=env, stdout=asyncio.subprocess.DEVNULL)
    code = await process.wait()
    wall, after = time.perf_counter() - started, os.times()
    if code:
        raise SystemExit(f"librarian {' '.join(arguments)} ended with {code}")
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return wall, spent


async def benchmark() -> None:
    """Run all commands in rounds; report medians, since a command's first run reads its files from disk."""
    with TemporaryDirectory(prefix="librarian-bench-") as folder:
        env = {**os.environ, "LIBRARIAN_HOME": folder}
        settings = Settings.from_env(env)
        async with AsyncExitStack() as stack:
            stack.push_async_callback(ManagedServer(settings.home, settings.cache).stop)
            await stack.enter_async_context(served(settings, arguments=("--with-sample",)))
            await until_commands_are_answered(Path(folder))
            samples: dict[str, list[tuple[float, float]]] = {what: [] for what in _COMMANDS}
            for round_ in range(_ROUNDS + 1):
                progress(f"round {round_} of {_ROUNDS}")
                for what, arguments in _COMMANDS.items():
                    taken = await measured(arguments, env)
                    samples[what] += [taken] if round_ else []
    report("command_line", [row(what, taken) for what, taken in samples.items()])


async def until_commands_are_answered(home: Path) -> None:
    """Wait for the service's socket."""
    async with asyncio.timeout(60):
        while not has_socket(home):
            await asyncio.sleep(0.05)


def has_socket(home: Path) -> bool:
    """Return whether a service listens for commands on this home."""
    return any(home.glob("service-*.sock"))


def row(what: str, taken: list[tuple[float, float]]) -> dict[str, Any]:
    """Return the medians of one command."""
    wall, processor = (statistics.median(column) for column in zip(*taken, strict=True))
    return {"what": what, "wall_s": round(wall, 3), "processor_s": round(processor, 3)}


if __name__ == "__main__":
    main(benchmark)
