"""The real application over the run's graph, and the installed command line in the run's home."""

import asyncio
import os
import sys
from pathlib import Path

import httpx
import pytest

from librarian.keys import KeyFile


@pytest.fixture(scope="session")
def program():
    """The installed console script."""
    return Path(sys.executable).with_name("librarian")


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
def environment(settings):
    """Of programs that share the run's home and server."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("LIBRARIAN_")}
    return {**inherited, "LIBRARIAN_HOME": str(settings.home), "LIBRARIAN_CACHE": str(settings.cache)}


@pytest.fixture
def cli(program, environment, librarian, tmp_path):
    """Runs the command line to its end: (exit code, standard output, standard error)."""

    async def run(*args, stdin=b"", **variables):
        process = await asyncio.create_subprocess_exec(
            program,
            *map(str, args),
            env={**environment, **variables},
            cwd=tmp_path,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await process.communicate(stdin)
        sys.stderr.write(err.decode())  # pytest shows it when the test fails
        return process.returncode, out.decode(), err.decode()

    return run
