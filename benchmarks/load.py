"""Fifty concurrent search clients for a minute over the store of `search_latency`: errors, latency, throughput, memory.

For comparison, one client alone, whose searches also run in process over the same graph: the difference is the cost of
the HTTP layer. Sizes: LIBRARIAN_BENCH_ITEMS (100000), LIBRARIAN_BENCH_SECONDS (60). LIBRARIAN_WORKERS is the service's
own setting.
"""

import asyncio
import os
import random
import statistics
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx
import psutil

from benchmarks.common import disposable, main, progress, report, sentence
from benchmarks.search_latency import ITEMS, NAMESPACE, fill
from benchmarks.serving import served
from librarian.search.contracts import SearchInput

SECONDS = float(os.environ.get("LIBRARIAN_BENCH_SECONDS", "60"))
CLIENTS = 50
RUNS = 200
WARMUP = 30
_MIB = 2**20

Search = Callable[[str], Awaitable[Any]]


@dataclass(slots=True)
class Answers:
    """Milliseconds of each answered search, number of answers by status, and duration of the run."""

    milliseconds: list[float] = field(default_factory=list)
    statuses: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0


async def milliseconds(search: Search, query: str) -> float:
    started = time.perf_counter()
    await search(query)
    return (time.perf_counter() - started) * 1000


async def side_by_side(one: Search, other: Search, queries: Sequence[str]) -> tuple[list[float], list[float]]:
    """Milliseconds of both for each query, taking turns to go first so that drift and caching affect both equally."""
    taken: dict[Search, list[float]] = {one: [], other: []}
    for number, query in enumerate(queries):
        for search in (one, other) if number % 2 else (other, one):
            taken[search].append(await milliseconds(search, query))
    return taken[one][WARMUP:], taken[other][WARMUP:]


async def under_load(client: httpx.AsyncClient, queries: Sequence[str], answers: Answers, seconds: float) -> None:
    """Run CLIENTS clients for `seconds`, each sending its next request as soon as it is answered."""
    begun = time.monotonic()

    async def ask(source: random.Random) -> None:
        while time.monotonic() - begun < seconds:
            started = time.perf_counter()
            status = await status_of(client, source.choice(queries))
            answers.statuses[status] += 1
            if status == str(httpx.codes.OK.value):
                answers.milliseconds.append((time.perf_counter() - started) * 1000)

    await asyncio.gather(*(ask(random.Random(number)) for number in range(CLIENTS)))
    answers.seconds += time.monotonic() - begun


async def status_of(client: httpx.AsyncClient, query: str) -> str:
    """Return the status of one search, or the name of the error."""
    try:
        return str((await client.post("/v1/search", json={"queries": [query]})).status_code)
    except httpx.TransportError as error:
        return type(error).__name__


def service_memory_mb() -> float:
    """Resident memory of the `librarian serve` that this process started, including its workers."""
    service = next(child for child in psutil.Process().children() if "serve" in child.cmdline())
    resident: int = sum(
        process.memory_info().rss
        for process in (service, *service.children())
        if process is service or "--worker" in process.cmdline()
    )
    return round(resident / _MIB, 1)


def row(what: str, samples: Sequence[float], per_s: float) -> dict[str, Any]:
    cuts = statistics.quantiles(samples, n=100, method="inclusive")
    p50, p95, p99 = (round(cuts[at - 1], 1) for at in (50, 95, 99))
    return {
        "what": what, "p50_ms": p50, "p95_ms": p95, "p99_ms": p99, "runs": len(samples), "per_s": round(per_s, 1)
    }  # fmt: skip


def alone(what: str, samples: Sequence[float]) -> dict[str, Any]:
    return row(what, samples, 1000 * len(samples) / sum(samples))


async def benchmark() -> None:
    """Load, then measure one client, then many."""
    source = random.Random(7)
    queries = [sentence(source, 6) for _ in range(WARMUP + RUNS)]
    async with disposable() as (librarian, settings):
        await fill(librarian)

        async def in_process(query: str) -> None:
            await librarian.search(NAMESPACE, SearchInput(queries=[query]))

        # The per-key limit would refuse the load to be measured.
        async with served(settings, LIBRARIAN_RATE_LIMIT="off") as (url, key):
            headers = {"authorization": f"Bearer {key}", "librarian-namespace": NAMESPACE}
            every = httpx.Limits(max_connections=CLIENTS, max_keepalive_connections=CLIENTS)
            async with httpx.AsyncClient(base_url=url, headers=headers, timeout=60, limits=every) as client:

                async def over_http(query: str) -> None:
                    (await client.post("/v1/search", json={"queries": [query]})).raise_for_status()

                progress("one client")
                use_case, single = await side_by_side(in_process, over_http, queries)
                memory, answers = [service_memory_mb()], Answers()
                for part in ("first", "second"):
                    progress(f"{CLIENTS} clients, {part} half")
                    await under_load(client, queries, answers, SECONDS / 2)
                    memory.append(service_memory_mb())
        rows = [
            alone("use case, one client", use_case),
            alone("HTTP, one client", single),
            row(f"HTTP, {CLIENTS} clients", answers.milliseconds, len(answers.milliseconds) / answers.seconds),
        ]
        report(
            "load",
            rows,
            items=ITEMS,
            seconds=SECONDS,
            statuses=dict(answers.statuses),
            p95_of_many_by_p50_of_one=round(rows[2]["p95_ms"] / rows[1]["p50_ms"], 2),
            http_adds_p50_ms=round(statistics.median(single) - statistics.median(use_case), 2),
            memory_mb=dict(zip(("before", "halfway", "after"), memory, strict=True)),
        )


if __name__ == "__main__":
    main(benchmark)
