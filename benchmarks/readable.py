"""Delay from a write until searches find it, over HTTP: one message with a unique word is sent and then searched.

The searches repeat until it is found by that word and by its meaning. Target: p99 <= 1 s for each.

    python -m benchmarks.readable [--facts]

`--facts` lets the service read incoming messages for facts (LIBRARIAN_PROPOSE_FACTS=accept), and every message states
one. Sizes: LIBRARIAN_BENCH_READABLE (20000) items beforehand, LIBRARIAN_BENCH_READABLE_RUNS (500) writes.
"""

import argparse
import asyncio
import os
import statistics
import time
import uuid
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import numpy as np

from benchmarks.common import disposable, items, load, main, progress, report
from benchmarks.serving import served
from librarian.client import AsyncLibrarianClient
from librarian.search.contracts import Hit, SearchInput

ITEMS = int(os.environ.get("LIBRARIAN_BENCH_READABLE", "20000"))
RUNS = int(os.environ.get("LIBRARIAN_BENCH_READABLE_RUNS", "500"))
WARMUP = 20
NAMESPACE = "readable"
_LONGEST_S = 30.0
_TEXT = "My badge number is {word}, and the deploy of the booking service waits for the schema of the invoice cache."

Condition = Callable[[Hit], bool]


async def benchmark() -> None:
    """Run one writer, one write after another."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--facts", action="store_true")
    facts = parser.parse_args().facts
    mode = "accept" if facts else "off"
    async with disposable() as (librarian, settings):
        space = librarian.parts.space
        vectors = np.random.default_rng(1).normal(size=(ITEMS, space.dimension if space else 1)).astype(np.float32)
        await load(librarian, NAMESPACE, items(ITEMS, seed=1, prefix=NAMESPACE), vectors)
        service = served(settings, LIBRARIAN_PROPOSE_FACTS=mode, LIBRARIAN_RATE_LIMIT="off")
        async with service as (url, key), AsyncLibrarianClient(url, key) as client:
            samples = [await _written(client, run) for run in range(WARMUP + RUNS)][WARMUP:]
    columns = ("acknowledged", "found by its words", "found by its meaning")
    rows = [_row(column, [sample[index] for sample in samples]) for index, column in enumerate(columns)]
    report("readable_with_facts" if facts else "readable", rows, items=ITEMS, target_p99_ms=1000)


async def _written(client: AsyncLibrarianClient, run: int) -> tuple[float, float, float]:
    """Return the milliseconds from sending a write to its answer, and to a search that finds it by word or meaning."""
    word = f"zq{uuid.uuid4().hex[:10]}"
    row = {"kind": "message", "uid": word, "author_name": f"author{run}", "text": _TEXT.format(word=word)}
    started = time.perf_counter()
    await client.ingest([row], namespace=NAMESPACE)
    acknowledged = _ms(started)
    by_words = await _until(client, word, started, lambda hit: hit.uid == word)
    by_meaning = await _until(client, word, started, lambda hit: hit.uid == word and hit.similarity_score is not None)
    progress(f"{run + 1} of {WARMUP + RUNS} writes")
    return acknowledged, by_words, by_meaning


async def _until(client: AsyncLibrarianClient, word: str, started: float, found: Condition) -> float:
    asked = SearchInput(queries=[word], limit=5)
    while not any(map(found, await _hits(client.search(NAMESPACE, asked)))):
        if _ms(started) > _LONGEST_S * 1000:
            raise TimeoutError(f"a write was not found within {_LONGEST_S:.0f} s")
        await asyncio.sleep(0.005)
    return _ms(started)


async def _hits(answer: Awaitable[Any]) -> Sequence[Hit]:
    hits: Sequence[Hit] = (await answer).results
    return hits


def _ms(started: float) -> float:
    return (time.perf_counter() - started) * 1000


def _row(what: str, samples: Sequence[float]) -> dict[str, Any]:
    cuts = statistics.quantiles(samples, n=100, method="inclusive")
    shown = {"p50_ms": cuts[49], "p95_ms": cuts[94], "p99_ms": cuts[98], "longest_ms": max(samples)}
    return {"what": what, **{name: round(ms, 1) for name, ms in shown.items()}, "runs": len(samples)}


if __name__ == "__main__":
    main(benchmark)
