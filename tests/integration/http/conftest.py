"""The real application over the run's graph."""

import asyncio
import contextlib
from dataclasses import replace

import httpx
import pytest

from librarian.http.app import build_app
from librarian.http.server import Server, listen
from librarian.keys import KeyFile
from librarian.setting_values import Rate


@pytest.fixture(scope="session")
def keys(tmp_path_factory):
    return KeyFile(tmp_path_factory.mktemp("keys") / "keys.json")


@pytest.fixture(scope="session")
def serving(settings, librarian, keys):
    """Serves the application with some HTTP settings changed; gives a client of it."""

    @contextlib.asynccontextmanager
    async def connect():
        yield librarian

    @contextlib.asynccontextmanager
    async def serve(**changes):
        http = replace(settings.http, port=0, rate_limit=Rate(0, 1.0), **changes)
        with listen(http) as listening:
            server = Server(build_app(http, keys, connect))
            running = asyncio.create_task(server.serve(sockets=[listening]))
            url = f"http://127.0.0.1:{listening.getsockname()[1]}"
            async with httpx.AsyncClient(base_url=url, trust_env=False, timeout=60) as client:
                yield client
            server.should_exit = True
            await running

    return serve


@pytest.fixture(scope="session")
async def client(serving):
    async with serving() as client:
        yield client


@pytest.fixture
def headers(keys, namespace):
    """Of a key for everything, bound to the test's namespace."""
    return {"Authorization": f"Bearer {keys.create('test', namespaces=[namespace], scopes=['admin'])[1]}"}
