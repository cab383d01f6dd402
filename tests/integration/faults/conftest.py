"""A disposable home whose database and services are killed, and programs that use it."""

import itertools
import os
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from platformdirs import user_cache_path

from graph.config import GraphConfig
from graph.driver import open_driver
from graph.executor import Executor
from graph.local.server import ManagedServer, ServerOptions
from librarian.base.keys import KeyFile, ensure_admin_key

SMALL = ServerOptions(heap_mb=512, pagecache_mb=256)
_OURS = ("LIBRARIAN_", "NEO4J_")


@dataclass
class Service:
    """A `librarian serve` that runs."""

    process: Any  # a Command
    url: str
    log: Path

    async def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return await self.process.wait()


@pytest.fixture(scope="session")
def cache() -> Path:
    return Path(os.environ.get("LIBRARIAN_CACHE") or user_cache_path("librarian"))


@pytest.fixture(scope="session")
def home(tmp_path_factory, copy_home) -> Path:
    home = tmp_path_factory.mktemp("faults") / "home"
    copy_home(home)
    return home


@pytest.fixture(scope="session")
async def server(home, cache):
    """The home's managed server, not started yet."""
    server = ManagedServer(home, cache, SMALL)
    yield server
    await server.stop()


@pytest.fixture
async def endpoint(server):
    """The server, up until a test stops it."""
    await server.pin()
    return await server.wait_ready()


@pytest.fixture
async def graph(endpoint):
    """The server as tests look into it."""
    async with open_driver(GraphConfig(endpoint.uri, endpoint.username, endpoint.password)) as driver:
        yield Executor(driver)


@pytest.fixture
def headers(home, namespace):
    """Of the home's own admin key, in the test's namespace."""
    home.mkdir(mode=0o700, exist_ok=True)
    key = ensure_admin_key(KeyFile(home / "keys.json"), home)
    return {"Authorization": f"Bearer {key}", "Librarian-Namespace": namespace}


@pytest.fixture
async def http():
    async with httpx.AsyncClient(trust_env=False, timeout=180) as client:
        yield client


@pytest.fixture
def environment(home, cache):
    """Of a program that uses the home, and nothing of the machine's own settings."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
    return {
        **inherited,
        "LIBRARIAN_HOME": str(home),
        "LIBRARIAN_CACHE": str(cache),
        "LIBRARIAN_HEAP_MB": str(SMALL.heap_mb),
        "LIBRARIAN_PAGECACHE_MB": str(SMALL.pagecache_mb),
        "LIBRARIAN_REQUEST_TIMEOUT_S": "120",  # a slow machine is no reason for a 504
    }


@pytest.fixture
def cli(finished, program, environment):
    """Runs the command line to its end: (exit code, standard output, standard error)."""

    async def run(*args: str, **settings: str) -> tuple[int | None, str, str]:
        return await finished(program, *args, env={**environment, **settings})

    return run


@pytest.fixture
async def serve(start_command, environment, tmp_path, eventually):
    """Starts services that answer; the graph need not."""
    started: list[Service] = []
    numbers = itertools.count()

    async def start(**settings: str) -> Service:
        log = tmp_path / f"serve-{next(numbers)}.log"
        with log.open("wb") as output:
            options = {"env": {**environment, **settings}, "cwd": tmp_path, "output": output}
            process = await start_command("serve", "--port", "0", **options)
        service = Service(process, "", log)
        started.append(service)

        async def listens() -> bool:
            assert process.returncode is None, log.read_text()
            return "Listening on " in log.read_text()

        await eventually(listens)
        service.url = log.read_text().partition("Listening on ")[2].partition(";")[0]
        return service

    yield start
    for service in started:
        if service.process.returncode is None:
            await service.stop()
        sys.stderr.write(service.log.read_text())


@pytest.fixture
def ready(http, eventually):
    """Waits until a service is ready."""

    async def wait(service: Service) -> None:
        async def answers() -> bool:
            return (await http.get(f"{service.url}/readyz")).status_code == 200

        await eventually(answers)

    return wait
