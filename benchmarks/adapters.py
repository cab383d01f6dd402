"""Overhead of the adapters: the time of each call minus the time within the client's methods.

`requests` is the number of requests per call. Target: at most 5 ms at p95. Uses the service at LIBRARIAN_REMOTE with
LIBRARIAN_API_KEY if set, otherwise one of its own. Sizes: LIBRARIAN_BENCH_ADAPTERS_RUNS (200).
"""

import asyncio
import os
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from langchain_core.messages import HumanMessage

from benchmarks.common import disposable, main, progress, report, timing
from benchmarks.serving import served
from librarian.adapters.langchain import LibrarianChatMessageHistory, LibrarianRetriever
from librarian.adapters.langgraph import LibrarianStore
from librarian.adapters.mem0 import Memory
from librarian.adapters.openai_agents import LibrarianSession
from librarian.client import AsyncLibrarianClient, LibrarianClient

RUNS = int(os.environ.get("LIBRARIAN_BENCH_ADAPTERS_RUNS", "200"))
WARMUP = 10
ITEMS = 200

Call = Callable[[int], Any]


class Clock:
    """Milliseconds within the client's methods, and the number of calls."""

    def __init__(self) -> None:
        self.ms, self.requests = 0.0, 0

    def add(self, started: float) -> None:
        """Count one finished method."""
        self.ms += (time.perf_counter() - started) * 1000
        self.requests += 1


@contextmanager
def clocked() -> Iterator[Clock]:
    """Make both clients report their times to a clock."""
    clock, blocking, asynchronous = Clock(), LibrarianClient._send, AsyncLibrarianClient._send  # noqa: SLF001  # within

    def send(self: Any, request: Any) -> Any:
        started = time.perf_counter()
        try:
            return blocking(self, request)
        finally:
            clock.add(started)

    async def asend(self: Any, request: Any) -> Any:
        started = time.perf_counter()
        try:
            return await asynchronous(self, request)
        finally:
            clock.add(started)

    LibrarianClient._send, AsyncLibrarianClient._send = send, asend  # type: ignore[method-assign]  # noqa: SLF001  # measured
    try:
        yield clock
    finally:
        LibrarianClient._send, AsyncLibrarianClient._send = blocking, asynchronous  # type: ignore[method-assign]  # noqa: SLF001  # as it was


def calls(access: dict[str, Any], runner: asyncio.Runner) -> dict[str, Call]:
    """Return the calls to measure, by name, over a namespace with some items."""
    namespace = f"bench-{uuid.uuid4().hex[:8]}"
    store = LibrarianStore(namespace, **access)
    history = LibrarianChatMessageHistory("chat", namespace=namespace, **access)
    retriever = LibrarianRetriever(namespace=namespace, **access)
    session = LibrarianSession("session", namespace=namespace, **access)
    memory = Memory(namespace, **access)
    for number in range(ITEMS):
        store.put(("users", "ada"), str(number), {"text": f"Ada took train {number} to Oslo", "number": number})
    history.add_messages([HumanMessage(f"message {number}") for number in range(20)])
    runner.run(session.add_items([{"role": "user", "content": f"item {number}"} for number in range(20)]))
    kept = memory.add("I like window seats", user_id="ada")["results"][0]["id"]
    return {
        "langgraph put": lambda run: store.put(("users", "ada"), f"new {run}", {"text": f"train {run}", "number": run}),
        "langgraph get": lambda run: store.get(("users", "ada"), str(run % ITEMS)),
        "langgraph search": lambda run: store.search(("users",), query=f"train {run}"),
        "langchain retriever": lambda run: retriever.invoke(f"train {run} to Oslo"),
        "langchain history": lambda _: history.messages,
        "openai-agents items": lambda _: runner.run(session.get_items()),
        "mem0 add": lambda run: memory.add(f"I took train {run}", user_id="bo"),
        "mem0 search": lambda run: memory.search(f"seats {run}", filters={"user_id": "ada"}),
        "mem0 get_all": lambda _: memory.get_all(filters={"user_id": "ada"}),
        "mem0 update": lambda run: memory.update(kept, f"I like seat {run}"),
    }


def measure(access: dict[str, Any]) -> None:
    """Repeat every call and print the adapters' own time."""
    rows: list[dict[str, Any]] = []
    with asyncio.Runner() as runner, clocked() as clock:
        for name, call in calls(access, runner).items():
            progress(name)
            own, within, requests = [], [], 0
            for run in range(WARMUP + RUNS):
                clock.ms, clock.requests, started = 0.0, 0, time.perf_counter()
                call(run)
                total = (time.perf_counter() - started) * 1000
                if run >= WARMUP:
                    own.append(total - clock.ms)
                    within.append(clock.ms)
                    requests = max(requests, clock.requests)
            took = timing(name, own)
            client = timing(name, within)
            rows.append(
                {
                    "call": name,
                    "own_p50_ms": took.p50_ms,
                    "own_p95_ms": took.p95_ms,
                    "client_p50_ms": client.p50_ms,
                    "requests": requests,
                }
            )
    report("adapters", rows, runs=RUNS)


async def benchmark() -> None:
    """Measure with the given service, or with a new one."""
    if os.environ.get("LIBRARIAN_REMOTE"):
        await asyncio.to_thread(measure, {})
        return
    async with disposable() as (_, settings), served(settings, LIBRARIAN_RATE_LIMIT="off") as (url, key):
        await asyncio.to_thread(measure, {"url": url, "api_key": key})


if __name__ == "__main__":
    main(benchmark)
