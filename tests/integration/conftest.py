"""One real graph for the whole run; each test works in a namespace of its own.

`NEO4J_URI` names the server to use. Without it a managed one is started in a temporary home.
"""

import asyncio
import contextlib
import os
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from graph.executor import Executor
from librarian.contracts.items import IngestReport
from librarian.http.app import build_app
from librarian.http.server import Server, listen
from librarian.keys import KeyFile
from librarian.service import Librarian
from librarian.settings import Settings
from librarian.wiring import open_librarian

Ingest = Callable[..., Any]
ServeApp = Callable[..., AbstractAsyncContextManager[str]]


@pytest.fixture(scope="session")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Settings of the run: a home of its own, a lean server, the machine's artifact cache."""
    home: Path = tmp_path_factory.mktemp("librarian") / "home"
    passed = {
        name: value for name, value in os.environ.items() if name.startswith("NEO4J_") or name == "LIBRARIAN_CACHE"
    }
    return Settings.from_env(
        {**passed, "LIBRARIAN_HOME": str(home), "LIBRARIAN_HEAP_MB": "512", "LIBRARIAN_PAGECACHE_MB": "256"}
    )


@pytest.fixture(scope="session")
async def librarian(settings: Settings) -> AsyncIterator[Librarian]:
    """A ready Librarian with the real encoder."""
    async with open_librarian(settings, purpose="tests", linger_s=0) as ready:
        yield ready


@pytest.fixture(scope="session")
async def executor(librarian: Librarian) -> Executor:
    """The executor of the run's graph."""
    return librarian.parts.executor


@pytest.fixture(scope="session")
def serve_app(settings: Settings) -> ServeApp:
    """Serves the real application over a Librarian on a port of its own, with some HTTP settings changed; gives the
    address.
    """

    @contextlib.asynccontextmanager
    async def serve(served: Librarian, keys: KeyFile, **changes: Any) -> AsyncIterator[str]:
        @contextlib.asynccontextmanager
        async def connect() -> AsyncIterator[Librarian]:
            yield served

        http = replace(settings.http, port=0, **changes)
        with listen(http) as listening:
            server = Server(build_app(http, keys, connect))
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
