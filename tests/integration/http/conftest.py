"""The real application over the run's graph."""

import contextlib

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
