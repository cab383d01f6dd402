"""The real application over the run's graph, and the command line in the run's home."""

import httpx
import pytest

from librarian.base.keys import KeyFile


@pytest.fixture(scope="session")
def keys(tmp_path_factory):
    return KeyFile(tmp_path_factory.mktemp("keys") / "keys.json")


@pytest.fixture(scope="session")
async def client(serve_app, librarian, keys):
    async with (
        serve_app(librarian, keys) as url,
        httpx.AsyncClient(base_url=url, trust_env=False, timeout=60) as client,
    ):
        yield client


@pytest.fixture
def headers(keys, namespace):
    """Of a key for everything, bound to the test's namespace."""
    return {"Authorization": f"Bearer {keys.create('test', namespaces=[namespace], scopes=['admin'])[1]}"}


@pytest.fixture
def cli(finished, program, environment, librarian):
    """Runs the command line to its end: (exit code, standard output, standard error)."""

    async def run(*args, stdin=b"", **variables):
        return await finished(program, *args, stdin=stdin, env={**environment, **variables})

    return run
