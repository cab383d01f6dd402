"""One real graph for the whole run; each test works in a namespace of its own.

`NEO4J_URI` names the server to use. Without it LIBRARIAN_TEST_DOCKER=1 asks for a container of the official image, and
otherwise a managed one is started in a temporary home.
"""

import asyncio
import contextlib
import os
import re
import secrets
import shutil
import subprocess
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from graph.executor import Executor
from graph.local.java import find_java
from librarian.contracts.items import IngestReport
from librarian.http.app import build_app
from librarian.http.server import Server, listen
from librarian.http.web.session import Sessions
from librarian.keys import KeyFile
from librarian.service import Librarian
from librarian.settings import Settings
from librarian.wiring import open_librarian, open_migrator

COMPOSE = Path(__file__).parents[2] / "compose.yaml"
IN_DOCKER = os.environ.get("LIBRARIAN_TEST_DOCKER") == "1" and not os.environ.get("NEO4J_URI")
BOLT_PORT = 7687

Ingest = Callable[..., Any]
ServeApp = Callable[..., AbstractAsyncContextManager[str]]


@pytest.fixture(scope="session", autouse=True)
def _quick_java(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A JVM that compiles quickly rather than well: most servers of a run end before the better code has paid."""
    command = tmp_path_factory.mktemp("java") / "bin" / "java"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{find_java(os.environ).path}" -XX:TieredStopAtLevel=1 "$@"\n')
    command.chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JAVA_HOME", str(command.parents[1]))
        yield


@pytest.fixture(scope="session")
def database() -> Iterator[dict[str, str]]:
    """Settings that lead to the run's database; none for a managed one."""
    if IN_DOCKER:
        with neo4j_container() as container:
            yield container
    else:
        yield {name: value for name, value in os.environ.items() if name.startswith("NEO4J_")}


@contextlib.contextmanager
def neo4j_container() -> Iterator[dict[str, str]]:
    """The image of compose.yaml, removed at the end; settings that lead to it. Skips where no Docker engine answers."""
    from testcontainers.core.container import DockerContainer
    from testcontainers.core.wait_strategies import LogMessageWaitStrategy

    (image,) = re.findall(r"image: (neo4j:\S+)", COMPOSE.read_text(encoding="utf-8"))
    if missing := _docker_fault():
        pytest.skip(f"LIBRARIAN_TEST_DOCKER=1 asks for {image}, but no Docker engine answers: {missing}")
    password = secrets.token_hex(16)
    container = DockerContainer(image).with_exposed_ports(BOLT_PORT).waiting_for(LogMessageWaitStrategy("Started."))
    container.with_env("NEO4J_AUTH", f"neo4j/{password}").with_env("NEO4J_db_query_default__language", "CYPHER_25")
    with container:
        address = f"bolt://{container.get_container_host_ip()}:{container.get_exposed_port(BOLT_PORT)}"
        yield {"NEO4J_URI": address, "NEO4J_PASSWORD": password}
    container.get_docker_client().client.close()


def _docker_fault() -> str:
    """Why no container can be started; empty where one can."""
    if shutil.which("docker") is None:
        return "the command docker is not installed"
    asked = subprocess.run(["docker", "info"], check=False, capture_output=True, text=True)
    return asked.stderr.strip() if asked.returncode else ""


@pytest.fixture(scope="session")
def settings(tmp_path_factory: pytest.TempPathFactory, database: dict[str, str]) -> Settings:
    """Settings of the run: a home of its own, a lean server, the machine's artifact cache."""
    home: Path = tmp_path_factory.mktemp("librarian") / "home"
    cache = os.environ.get("LIBRARIAN_CACHE")
    passed = database if cache is None else {**database, "LIBRARIAN_CACHE": cache}
    return Settings.from_env(
        {**passed, "LIBRARIAN_HOME": str(home), "LIBRARIAN_HEAP_MB": "512", "LIBRARIAN_PAGECACHE_MB": "256"}
    )


@pytest.fixture(scope="session")
async def librarian(settings: Settings) -> AsyncIterator[Librarian]:
    """A ready Librarian with the real encoder."""
    if IN_DOCKER:  # like any server of yours, it is not migrated by itself
        async with open_migrator(settings, purpose="tests", linger_s=0) as migrator:
            await migrator.apply()
    async with open_librarian(settings, purpose="tests", linger_s=0) as ready:
        yield ready


@pytest.fixture(scope="session")
async def executor(librarian: Librarian) -> Executor:
    """The executor of the run's graph."""
    return librarian.parts.executor


@pytest.fixture(scope="session")
def serve_app(settings: Settings) -> ServeApp:
    """Serves the real application over a Librarian on a port of its own, with some HTTP settings changed, and the web
    page where it gets sessions; gives the address.
    """

    @contextlib.asynccontextmanager
    async def serve(
        served: Librarian, keys: KeyFile, sessions: Sessions | None = None, **changes: Any
    ) -> AsyncIterator[str]:
        @contextlib.asynccontextmanager
        async def connect() -> AsyncIterator[Librarian]:
            yield served

        http = replace(settings.http, port=0, **changes)
        with listen(http) as listening:
            server = Server(build_app(http, keys, connect, sessions))
            running = asyncio.create_task(server.serve(sockets=[listening]))
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
            server.should_exit = True
            await running

    return serve


@pytest.fixture
def namespace() -> str:
    """A namespace that nobody else uses."""
    return f"test-{uuid.uuid4().hex[:12]}"


@pytest.fixture
def ingest(librarian: Librarian, namespace: str) -> Ingest:
    """Stores rows given as dicts, and encodes them unless told otherwise."""

    async def run(*rows: dict[str, Any], into: str = namespace, embed: bool = True, **options: Any) -> IngestReport:
        async def lines() -> AsyncIterator[tuple[int, bytes]]:
            for number, row in enumerate(rows, start=1):
                yield number, msgspec.json.encode(row)

        report = await librarian.ingest(lines(), namespace=into, **options)
        if embed:
            await librarian.embed_pending()
        return report

    return run
