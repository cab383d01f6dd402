"""The real application over the run's graph, for clients in this process and for the installed command line."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from librarian.client import AsyncLibrarianClient
from librarian.keys import KeyFile


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
def program_environment(settings, service_url, admin_key):
    """Of programs that share the run's home and server, and know the service."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("LIBRARIAN_")}
    own = {"LIBRARIAN_HOME": str(settings.home), "LIBRARIAN_CACHE": str(settings.cache)}
    return {**inherited, **own, "LIBRARIAN_API_KEY": admin_key}


@pytest.fixture
def finished(program_environment, librarian, tmp_path):
    """Runs a program to its end: (exit code, standard output, standard error)."""

    async def run(*command, stdin=b"", **variables):
        process = await asyncio.create_subprocess_exec(
            *map(str, command),
            env={**program_environment, **variables},
            cwd=tmp_path,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await process.communicate(stdin)
        sys.stderr.write(err.decode())  # pytest shows it when the test fails
        return process.returncode, out.decode(), err.decode()

    return run


@pytest.fixture
def cli(finished):
    """Runs the installed command line."""
    program = Path(sys.executable).with_name("librarian")

    async def run(*args, **more):
        return await finished(program, *args, **more)

    return run
