"""The real application over the run's graph."""

import asyncio
import contextlib
import sys
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from librarian.base.keys import KeyFile
from librarian.base.settings.values import Rate


@pytest.fixture(scope="session")
def keys(tmp_path_factory):
    return KeyFile(tmp_path_factory.mktemp("keys") / "keys.json")


@pytest.fixture(scope="session")
def serving(serve_app, librarian, keys):
    """Serves the application with some HTTP settings changed; gives a client of it."""

    @contextlib.asynccontextmanager
    async def serve(**changes):
        async with (
            serve_app(librarian, keys, rate_limit=Rate(0, 1.0), **changes) as url,
            httpx.AsyncClient(base_url=url, trust_env=False, timeout=60) as client,
        ):
            yield client

    return serve


@pytest.fixture(scope="session")
async def client(serving):
    async with serving() as client:
        yield client


@pytest.fixture
def headers(keys, namespace):
    """Of a key for everything, bound to the test's namespace."""
    return {"Authorization": f"Bearer {keys.create('test', namespaces=[namespace], scopes=['admin'])[1]}"}


@dataclass
class Service:
    process: asyncio.subprocess.Process
    url: str

    async def ready(self, http):
        while (await http.get(f"{self.url}/readyz")).status_code != 200:
            await asyncio.sleep(0.05)

    async def refuses(self):
        """Return when nobody accepts connections any more."""
        async with httpx.AsyncClient(trust_env=False, timeout=60) as stranger:
            with contextlib.suppress(httpx.TransportError):
                while True:
                    await stranger.get(f"{self.url}/healthz", headers={"Connection": "close"})

    async def ended(self):
        out, _ = await self.process.communicate()
        sys.stderr.write(out.decode())
        return self.process.returncode


@pytest.fixture
async def start(environment, keys, librarian, tmp_path):
    """Starts `librarian serve` on the run's graph as a process, with some variables set besides."""
    started = []

    async def run(**variables):
        process = await asyncio.create_subprocess_exec(
            Path(sys.executable).with_name("librarian"),
            "serve",
            "--port",
            "0",
            env={**environment, "LIBRARIAN_KEYS_FILE": str(keys.path), **variables},
            cwd=tmp_path,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        started.append(process)
        while b"Listening on " not in (line := await process.stdout.readline()):
            assert line, "it ended at once"
        return Service(process, line.decode().split()[2].rstrip(";"))

    yield run
    for process in started:
        if process.returncode is None:
            process.kill()
            await process.communicate()


@pytest.fixture
async def http():
    async with httpx.AsyncClient(trust_env=False, timeout=120) as client:
        yield client
