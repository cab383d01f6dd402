"""The real service in its own process, for the benchmarks that use HTTP."""

import asyncio
import os
import socket
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import httpx

from librarian.base.settings.settings import Settings

_BIN = Path(sys.executable).parent / "librarian"


@asynccontextmanager
async def served(
    settings: Settings, *, ready_within_s: float = 240, arguments: Sequence[str] = (), **env: str
) -> AsyncIterator[tuple[str, str]]:
    """Run `librarian serve` with `arguments` and `env` on the home of `settings`; yield its URL and an admin key."""
    port = free_port()
    env = {**os.environ, "LIBRARIAN_HOME": str(settings.home), "LIBRARIAN_LOG_LEVEL": "warning", **env}
    process = await asyncio.create_subprocess_exec(_BIN, "serve", "--port", str(port), *arguments, env=env)
    url = f"http://127.0.0.1:{port}"
    try:
        await until_ready(url, ready_within_s)
        yield url, await _key(env)
    finally:
        process.terminate()
        await process.wait()


async def until_ready(url: str, within_s: float) -> None:
    """Wait for `/readyz` to return 200."""
    async with asyncio.timeout(within_s), httpx.AsyncClient(base_url=url) as client:
        while True:
            try:
                if (await client.get("/readyz")).status_code == httpx.codes.OK:
                    return
            except httpx.TransportError:
                pass
            await asyncio.sleep(0.05)


async def _key(env: dict[str, str]) -> str:
    shown = await asyncio.create_subprocess_exec(_BIN, "keys", "show-local", env=env, stdout=asyncio.subprocess.PIPE)
    output, _ = await shown.communicate()
    return output.decode().split()[-1]


def free_port() -> int:
    """Return a free port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
