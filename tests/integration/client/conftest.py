"""The real application over the run's graph, for clients in this process and for the installed command line."""

import pytest

from librarian.base.keys import KeyFile
from librarian.client import AsyncLibrarianClient


@pytest.fixture(scope="session")
def service_keys(tmp_path_factory):
    return KeyFile(tmp_path_factory.mktemp("client-keys") / "keys.json")


@pytest.fixture(scope="session")
async def service_url(serve_app, librarian, service_keys):
    async with serve_app(librarian, service_keys) as url:
        yield url


@pytest.fixture(scope="session")
def admin_key(service_keys):
    """For everything everywhere."""
    return service_keys.create("client tests", namespaces=["*"], scopes=["admin"])[1]


@pytest.fixture
async def remote(service_url, admin_key):
    async with AsyncLibrarianClient(service_url, admin_key) as client:
        yield client


@pytest.fixture
def cli(finished, program, environment, admin_key, librarian):
    """Runs the command line to its end: (exit code, standard output, standard error)."""

    async def run(*args, stdin=b"", **variables):
        return await finished(
            program, *args, stdin=stdin, env={**environment, "LIBRARIAN_API_KEY": admin_key, **variables}
        )

    return run
