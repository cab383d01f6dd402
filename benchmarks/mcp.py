"""Overhead of the Model Context Protocol over the use case: `search_all` over streamable HTTP and stdio.

Both use the SDK's own client; the tool over plain HTTP is the comparison. The time of the use case is subtracted from
every call: the rest is the protocol on both sides. For HTTP, whose client shares the service's process, the service's
part is reported separately; for stdio the processor time of the client. The ways take turns. Sizes:
LIBRARIAN_BENCH_MCP_ITEMS (5000), LIBRARIAN_BENCH_MCP_RUNS (300).
"""

import asyncio
import os
import random
import sys
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, TextIO

import httpx2
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.stdio import stdio_server
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from benchmarks.common import disposable, items, load, main, progress, report, sentence, timing
from benchmarks.search_latency import made_up_vectors
from librarian.app import Librarian, open_librarian
from librarian.base import logs
from librarian.base.keys import KeyFile
from librarian.base.settings.settings import Settings
from librarian.base.settings.values import Rate
from librarian.cli.mcp import connection
from librarian.http.app import build_app
from librarian.http.server import Server, listen
from librarian.mcp.server import Caller, mcp_server
from librarian.search.contracts import MixedSearchOutput, SemanticSearchInput

ITEMS = int(os.environ.get("LIBRARIAN_BENCH_MCP_ITEMS", "5000"))
RUNS = int(os.environ.get("LIBRARIAN_BENCH_MCP_RUNS", "300"))
WARMUP = 30
NAMESPACE = "bench"
_STDIO = "stdio"

Ask = Callable[[str], Awaitable[Any]]
# Milliseconds within the last call.
Inner = Callable[[], float]


class Way(NamedTuple):
    """A way to call the tool; `service_ms` is the time within the service, if known."""

    ask: Ask
    use_case_ms: Inner
    service_ms: Inner | None = None


class Times:
    """Duration of the last search of `librarian`; a stdio server reports it on stderr."""

    def __init__(self, librarian: Librarian) -> None:
        self._search = librarian.search.search_all
        self.last_ms = 0.0
        self.service_ms = 0.0
        vars(librarian.search)["search_all"] = self._timed

    async def _timed(self, namespace: str, query: SemanticSearchInput) -> MixedSearchOutput:
        started = time.perf_counter()
        try:
            return await self._search(namespace, query)
        finally:
            self.last_ms = (time.perf_counter() - started) * 1000
            if _STDIO in sys.argv:
                print(self.last_ms, file=sys.stderr, flush=True)


class Inside:
    """Report to `times` how long the service takes from a request to the end of its answer."""

    def __init__(self, app: ASGIApp, *, times: Times) -> None:
        self._app = app
        self._times = times

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Time one request."""
        started = time.perf_counter()

        async def noting(message: Message) -> None:
            if message["type"] == "http.response.body":
                self._times.service_ms = (time.perf_counter() - started) * 1000
            await send(message)

        await self._app(scope, receive, noting)


async def fill(librarian: Librarian) -> None:
    """Store ITEMS messages with synthetic vectors."""
    space = librarian.parts.space
    assert space is not None
    await load(librarian, NAMESPACE, items(ITEMS, seed=1, prefix="m"), made_up_vectors(ITEMS, space.dimension, 1))


@asynccontextmanager
async def serving(librarian: Librarian, times: Times, folder: Path) -> AsyncIterator[httpx2.AsyncClient]:
    """Run the application in this process on its own port; yield a client of it."""
    keys = KeyFile(folder / "keys.json")
    _, key = keys.create("benchmark", scopes=["read"], namespaces=[NAMESPACE])

    @asynccontextmanager
    async def connect() -> AsyncIterator[Librarian]:
        yield librarian

    http = replace(librarian.settings.http, port=0, rate_limit=Rate(0, 1.0))
    app = build_app(http, keys, connect)
    app.add_middleware(Inside, times=times)
    with listen(http) as listening:
        server = Server(app)
        running = asyncio.create_task(server.serve(sockets=[listening]))
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        headers = {"Authorization": f"Bearer {key}"}
        async with httpx2.AsyncClient(base_url=url, headers=headers, trust_env=False, timeout=60) as client:
            yield client
        server.should_exit = True
        await running


@asynccontextmanager
async def over_http(client: httpx2.AsyncClient) -> AsyncIterator[ClientSession]:
    """A session with the service of `client`."""
    async with (
        streamable_http_client(str(client.base_url.join("/mcp")), http_client=client) as (reading, writing),
        ClientSession(reading, writing) as session,
    ):
        await session.initialize()
        await session.list_tools()
        yield session


@asynccontextmanager
async def over_stdio(settings: Settings, reported: TextIO) -> AsyncIterator[ClientSession]:
    """A session with a server in its own process, which writes the times of its use cases to `reported`."""
    env = {**os.environ, "LIBRARIAN_HOME": str(settings.home)}
    started = StdioServerParameters(command=sys.executable, args=["-m", "benchmarks.mcp", _STDIO], env=env)
    async with (
        stdio_client(started, errlog=reported) as (reading, writing),
        ClientSession(reading, writing) as session,
    ):
        await session.initialize()
        await session.list_tools()
        yield session


async def serve_stdio() -> None:
    """Run `librarian mcp` with a Librarian that reports its times."""
    settings = Settings.from_env()
    logs.configure(settings.log, default_level="error")
    async with open_librarian(settings, purpose="mcp") as librarian, stdio_server() as (reading, writing):
        Times(librarian)
        caller = Caller(librarian, connection(NAMESPACE, read_only=True), NAMESPACE)
        server = mcp_server(lambda _ctx: caller)
        await server.run(reading, writing, server.create_initialization_options())


def posting(client: httpx2.AsyncClient) -> Ask:
    """Call the tool over plain HTTP."""

    async def ask(query: str) -> None:
        (await client.post("/v1/tools/search_all", json={"queries": [query]})).raise_for_status()

    return ask


def calling(session: ClientSession) -> Ask:
    """Call the tool over the protocol; a tool's error ends the benchmark."""

    async def ask(query: str) -> None:
        answer = await session.call_tool("search_all", {"queries": [query]})
        if answer.is_error:
            raise RuntimeError(answer.content)

    return ask


async def in_turns(ways: dict[str, Way]) -> dict[str, list[float]]:
    """Return milliseconds of each way beyond the use case, with their owner, and of the use cases themselves."""
    source = random.Random(7)
    spent: dict[str, list[float]] = defaultdict(list)
    order = list(ways.items())
    for run in range(-WARMUP, RUNS):
        query = sentence(source, 6)
        order.append(order.pop(0))
        for name, way in order:
            worked, started = time.process_time(), time.perf_counter()
            await way.ask(query)
            whole_ms, work_ms = (time.perf_counter() - started) * 1000, (time.process_time() - worked) * 1000
            if run < 0:
                continue
            use_case_ms = way.use_case_ms()
            spent["use case"].append(use_case_ms)
            spent[f"{name} over the use case"].append(whole_ms - use_case_ms)
            if way.service_ms is None:
                spent[f"{name}, processor time of the client"].append(work_ms)
            else:
                spent[f"{name}, in the service"].append(way.service_ms() - use_case_ms)
        progress(f"search {max(run + 1, 0)} of {RUNS}")
    return dict(sorted(spent.items()))


async def benchmark() -> None:
    """Load, then search."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        reported = stack.enter_context((folder / "times").open("w+", encoding="utf-8"))
        loaded, settings = await stack.enter_async_context(disposable())
        logs.configure(settings.log, default_level="error")
        await fill(loaded)
        librarian = await stack.enter_async_context(open_librarian(settings, purpose="benchmark"))
        times = Times(librarian)
        client = await stack.enter_async_context(serving(librarian, times, folder))
        http = await stack.enter_async_context(over_http(client))
        stdio = await stack.enter_async_context(over_stdio(settings, reported))
        here = (lambda: times.last_ms, lambda: times.service_ms)
        spent = await in_turns(
            {
                "tool over HTTP": Way(posting(client), *here),
                "MCP over HTTP": Way(calling(http), *here),
                "MCP over stdio": Way(calling(stdio), lambda: _last_told(folder / "times")),
            }
        )
        report("mcp", [timing(what, samples) for what, samples in spent.items()], items=ITEMS)


def _last_told(file: Path) -> float:
    return float(file.read_text(encoding="utf-8").splitlines()[-1])


if __name__ == "__main__":
    main(serve_stdio if _STDIO in sys.argv else benchmark)
