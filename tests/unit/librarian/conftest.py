"""The real application on a free port, its graph still starting: what must hold before a database is there."""

import asyncio
import contextlib
import resource
from dataclasses import replace

import httpx
import pytest

from librarian.app import Librarian
from librarian.base.keys import KeyFile
from librarian.base.settings.settings import Settings
from librarian.http.app import build_app
from librarian.http.server import Server, listen


@pytest.fixture
def settings(tmp_path):
    return Settings.from_env({"LIBRARIAN_HOME": str(tmp_path / "home"), "LIBRARIAN_MAX_BODY_MB": "1"})


@pytest.fixture
def keys(settings):
    return KeyFile(settings.keys_file)


@pytest.fixture
def starting(settings):
    """A Librarian whose graph never comes."""
    return Librarian(settings)


@pytest.fixture
async def client(settings, keys, starting):
    @contextlib.asynccontextmanager
    async def connect():
        yield starting

    http = replace(settings.http, port=0)
    with listen(http) as listening:
        server = Server(build_app(http, keys, connect))
        running = asyncio.create_task(server.serve(sockets=[listening]))
        async with httpx.AsyncClient(
            base_url=f"http://127.0.0.1:{listening.getsockname()[1]}", trust_env=False, timeout=60
        ) as client:
            yield client
        server.should_exit = True
        await running


@pytest.fixture
def key_for(keys):
    """Makes headers with a new key: `key_for("read", "a")`."""

    def make(scope, *namespaces):
        return {"Authorization": f"Bearer {keys.create('test', namespaces=namespaces, scopes=[scope])[1]}"}

    return make


@pytest.fixture
def full_disk():
    """The bytes beyond which no file may grow, as on a disk that is full."""
    room = 64 * 1024
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, hard))
    yield room
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
