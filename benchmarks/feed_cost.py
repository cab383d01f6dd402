"""Cost of the change feed for parallel writers of one namespace, who wait for each other to number their changes.

The same ingests run with the feed and, in this process only, without it, alternately. Sizes:
LIBRARIAN_BENCH_FEED_WRITERS (8) writers, LIBRARIAN_BENCH_FEED_WRITES (50) ingests of each, LIBRARIAN_BENCH_FEED_ROUNDS
(5) rounds of either kind.
"""

import asyncio
import os
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from benchmarks.common import disposable, items, main, progress, report
from graph.executor import Transaction
from graph.ingest import store_batch
from graph.item import NewItem
from librarian.app import Librarian

WRITERS = int(os.environ.get("LIBRARIAN_BENCH_FEED_WRITERS", "8"))
WRITES = int(os.environ.get("LIBRARIAN_BENCH_FEED_WRITES", "50"))
ROUNDS = int(os.environ.get("LIBRARIAN_BENCH_FEED_ROUNDS", "5"))
SIZES = (1, 100)


@contextmanager
def without_feed() -> Iterator[None]:
    """Skip the statement that numbers changes."""
    numbering = Transaction.number_changes

    async def nothing(self: Transaction) -> None:
        self._changes.clear()

    Transaction.number_changes = nothing  # type: ignore[method-assign]  # for as long as this lasts
    try:
        yield
    finally:
        Transaction.number_changes = numbering  # type: ignore[method-assign]  # as it was


async def benchmark() -> None:
    """Run parallel writers with small and large writes, with the feed and without."""
    rows: list[dict[str, Any]] = []
    async with disposable(LIBRARIAN_ENCODER="none") as (librarian, _):
        for size in SIZES:
            await _round(librarian, size, "warm-up")
            found: dict[str, list[tuple[float, list[float]]]] = {"with": [], "without": []}
            for number in range(ROUNDS):
                found["with"].append(await _round(librarian, size, f"with-{size}-{number}"))
                with without_feed():
                    found["without"].append(await _round(librarian, size, f"without-{size}-{number}"))
                progress(f"{size} items a write: {number + 1} of {ROUNDS} rounds")
            rows += [_row(size, feed, rounds) for feed, rounds in found.items()]
    pairs = zip(rows[::2], rows[1::2], strict=True)
    cost = {
        f"{fed['items_a_write']} an ingest": f"{1 - fed['items_per_second'] / bare['items_per_second']:+.1%}"
        for fed, bare in pairs
    }
    report("feed_cost", rows, writers=WRITERS, throughput_lost=cost)


async def _round(librarian: Librarian, size: int, namespace: str) -> tuple[float, list[float]]:
    """Return the total seconds of all writers, and the milliseconds of each write."""
    made = items(WRITERS * WRITES * size, seed=2, prefix=namespace)
    started = time.perf_counter()
    each = WRITES * size
    parts = [made[at : at + each] for at in range(0, len(made), each)]
    samples = await asyncio.gather(*(_writer(librarian, namespace, part, size) for part in parts))
    return time.perf_counter() - started, [ms for sample in samples for ms in sample]


async def _writer(librarian: Librarian, namespace: str, made: list[NewItem], size: int) -> list[float]:
    samples = []
    for at in range(0, len(made), size):
        started = time.perf_counter()
        await store_batch(librarian.parts.executor, namespace, made[at : at + size])
        samples.append((time.perf_counter() - started) * 1000)
    return samples


def _row(size: int, feed: str, rounds: list[tuple[float, list[float]]]) -> dict[str, Any]:
    seconds = statistics.median(seconds for seconds, _ in rounds)
    cuts = statistics.quantiles([ms for _, samples in rounds for ms in samples], n=100, method="inclusive")
    return {
        "items_a_write": size,
        "feed": feed,
        "items_per_second": round(WRITERS * WRITES * size / seconds),
        "p50_ms": round(cuts[49], 1),
        "p99_ms": round(cuts[98], 1),
        "rounds": len(rounds),
    }


if __name__ == "__main__":
    main(benchmark)
