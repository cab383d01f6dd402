"""One growing graph: 10,000, 100,000 and 1,000,000 items with ready-made vectors, and the cost of each size.

At each size: items stored per second, disk and memory of the database, searches over HTTP, recall@20 of the vector
index, a start, a start after kill -9 of the database, and a backup. LIBRARIAN_BENCH_SIZES (10000,100000,1000000; the
last takes about an hour and 15 GB of disk) and LIBRARIAN_BENCH_RUNS (200 searches) change it.
"""

import itertools
import os
import random
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx
import numpy as np
import psutil

from benchmarks.backup import timed_backup
from benchmarks.common import items, load, main, measure, progress, report, sentence
from benchmarks.search_latency import NAMESPACE, RUNS, made_up_vectors, recall
from benchmarks.serving import served
from benchmarks.startup import ready_seconds
from graph.local.server import ManagedServer
from graph.spaces import compact
from librarian.app import Librarian, open_librarian
from librarian.base.settings.settings import Settings

SIZES = [int(size) for size in os.environ.get("LIBRARIAN_BENCH_SIZES", "10000,100000,1000000").split(",")]
WARM_UP = 300
# Items and vectors in the memory of this process at once.
_SLICE = 50_000
DIMENSION = 384  # of the default encoder
_MB = 2**20


async def grow(librarian: Librarian, vectors: Any, begin: int) -> float:
    """Store the items from `begin` to the last of `vectors`; return items per second."""
    seconds = 0.0
    for at in range(begin, len(vectors), _SLICE):
        end = min(at + _SLICE, len(vectors))
        made = items(end - at, seed=at, prefix="m", first=at)
        seconds += await load(librarian, NAMESPACE, made, vectors[at:end])
    return (len(vectors) - begin) / seconds


async def searches(settings: Settings) -> dict[str, float]:
    """Return the median and the 95th percentile of searches over HTTP, in milliseconds."""
    source = random.Random(7)
    queries = [sentence(source, 6) for _ in range(400)]
    async with served(settings, LIBRARIAN_RATE_LIMIT="off") as (url, key):
        headers = {"authorization": f"Bearer {key}", "librarian-namespace": NAMESPACE}
        async with httpx.AsyncClient(base_url=url, headers=headers, timeout=60) as client:

            async def search(i: int) -> None:
                body = {"queries": [queries[i % len(queries)]], "limit": 10}
                (await client.post("/v1/search", json=body)).raise_for_status()

            timed = await measure("search", search, runs=RUNS, warmup=WARM_UP)
    return {"search_p50_ms": timed.p50_ms, "search_p95_ms": timed.p95_ms}


def sizes_of(settings: Settings) -> dict[str, int]:
    """Return the megabytes of the home on disk, and of the database's process in memory."""
    pid = ManagedServer(settings.home, settings.cache).status().pid
    assert pid is not None
    stored = sum(file.stat().st_size for file in (settings.home / "data").rglob("*") if file.is_file())
    return {"disk_mb": round(stored / _MB), "database_rss_mb": round(psutil.Process(pid).memory_info().rss / _MB)}


async def at_size(settings: Settings, vectors: Any, begin: int, folder: Path) -> dict[str, Any]:
    """Grow the graph from `begin` items to one per vector; return the measurements at that size."""
    async with open_librarian(settings, purpose="benchmark", linger_s=0) as librarian:
        space = librarian.parts.space
        assert space is not None
        row: dict[str, Any] = {"items": len(vectors), "stored_per_s": round(await grow(librarian, vectors, begin))}
        progress("compacting the vector index")
        await compact(librarian.parts.executor, space.space, space.dimension)
        row |= await searches(settings)
        row["recall_at_20"] = round(await recall(librarian, vectors, made_up_vectors(100, DIMENSION, 3)), 3)
        row |= sizes_of(settings)
        started = time.perf_counter()
        made, _ = await timed_backup(librarian, folder)
        row |= {"backup_s": round(time.perf_counter() - started, 1), "backup_mb": round(made.bytes / _MB)}
    await ManagedServer(settings.home, settings.cache).stop()
    row["start_s"] = round(await ready_seconds(settings, kill=True), 1)
    row["start_after_kill_s"] = round(await ready_seconds(settings), 1)
    return row


def growth(rows: list[dict[str, Any]]) -> list[dict[str, float]]:
    """Return, for each size but the first, every figure as a multiple of that at the previous size."""
    return [
        {name: round(float(np.divide(row[name], before[name])), 2) for name in row}
        for before, row in itertools.pairwise(rows)
    ]


async def benchmark() -> None:
    """Grow one graph from size to size."""
    rows: list[dict[str, Any]] = []
    vectors = made_up_vectors(max(SIZES), DIMENSION, 1)
    with TemporaryDirectory(prefix="librarian-scale-") as folder:
        settings = Settings.from_env({**os.environ, "LIBRARIAN_HOME": str(Path(folder) / "home")})
        for begin, size in zip([0, *SIZES], SIZES, strict=False):
            rows.append(await at_size(settings, vectors[:size], begin, Path(folder) / f"backup-{size}"))
            report("scale", rows, times_the_size_before=growth(rows))


if __name__ == "__main__":
    main(benchmark)
