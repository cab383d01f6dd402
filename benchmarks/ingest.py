"""Ingest speed into a graph with all indexes: with ready-made vectors (no encoding), and end to end with the real
encoder.

Sizes: LIBRARIAN_BENCH_INGEST (20000) items without encoding, LIBRARIAN_BENCH_ENCODED (3000) texts with it.
"""

import os
import random
import resource
import time
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import numpy as np

from benchmarks.common import disposable, items, load, main, progress, report, sentence
from librarian.app import Librarian

PLAIN = int(os.environ.get("LIBRARIAN_BENCH_INGEST", "20000"))
ENCODED = int(os.environ.get("LIBRARIAN_BENCH_ENCODED", "3000"))


async def lines(count: int, prefix: str) -> AsyncIterator[tuple[int, bytes]]:
    """JSON lines of made-up short messages, produced as they are asked for."""
    source = random.Random(5)
    for i in range(count):
        row = {
            "kind": "message",
            "message_id": f"{prefix}{i}",
            "conversation_id": f"c{i % 50}",
            "author": f"author{i % 20}",
            "position": i,
            "text": sentence(source),
        }
        yield i + 1, msgspec.json.encode(row)


async def end_to_end(librarian: Librarian, count: int, namespace: str, *, encode: bool) -> dict[str, Any]:
    """Return rows a second through the use case, and resident memory before and after."""
    before = _resident_mb()
    started = time.perf_counter()
    stored = await librarian.ingest(lines(count, namespace), namespace=namespace)
    if encode:
        await librarian.embed_pending()
    seconds = time.perf_counter() - started
    assert stored.failed == 0
    what = "use case with encoding" if encode else "use case, vectors pending"
    return {
        "what": what,
        "items": count,
        "seconds": round(seconds, 1),
        "per_second": round(count / seconds),
        "peak_mb_before": before,
        "peak_mb_after": _resident_mb(),
    }


async def benchmark() -> None:
    """Three ways in, one fresh graph."""
    async with disposable() as (librarian, _):
        space = librarian.parts.space
        assert space is not None
        vectors = np.random.default_rng(1).normal(size=(PLAIN, space.dimension)).astype(np.float32)
        before = _resident_mb()
        seconds = await load(librarian, "ready-made", items(PLAIN, seed=1, prefix="r"), vectors)
        rows = [
            {
                "what": "graph verbs, ready-made vectors and all indexes",
                "items": PLAIN,
                "seconds": round(seconds, 1),
                "per_second": round(PLAIN / seconds),
                "peak_mb_before": before,
                "peak_mb_after": _resident_mb(),
            }
        ]
        progress("with encoding")
        rows.append(await end_to_end(librarian, ENCODED, "encoded", encode=True))
        progress("without encoding")
        rows.append(await end_to_end(librarian, PLAIN, "plain", encode=False))
        report("ingest", rows)


def _resident_mb() -> int:
    """Peak resident memory of this process so far, in MiB (Linux counts KiB)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


if __name__ == "__main__":
    main(benchmark)
