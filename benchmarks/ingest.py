"""Ingest speed into a graph with all indexes, from ready-made vectors and end to end with the real encoder.

The encoder alone is measured for comparison. Sizes: LIBRARIAN_BENCH_INGEST (20000) items without encoding,
LIBRARIAN_BENCH_ENCODED (3000) texts with it.
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
from librarian.embeddings.embed import ITEMS_AT_ONCE
from librarian.runtime.supervisor import beside
from retrieval.passages import embedding_text

PLAIN = int(os.environ.get("LIBRARIAN_BENCH_INGEST", "20000"))
WARM_UP = 500
ENCODED = int(os.environ.get("LIBRARIAN_BENCH_ENCODED", "3000"))


async def lines(count: int, prefix: str) -> AsyncIterator[tuple[int, bytes]]:
    """Yield JSON lines of synthetic short messages on demand."""
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
    """Return rows per second through the use case, and resident memory before and after."""
    before = _resident_mb()
    started = time.perf_counter()
    if encode:
        async with beside(librarian.embeddings.encode_as_they_come()):
            stored = await librarian.ingest(lines(count, namespace), namespace=namespace)
        await librarian.embed_pending()
    else:
        stored = await librarian.ingest(lines(count, namespace), namespace=namespace)
    seconds = time.perf_counter() - started
    assert stored.failed == 0
    what = "use case with encoding" if encode else "use case, vectors pending"
    return _row(what, count, seconds, before)


async def encoder_alone(librarian: Librarian, count: int) -> dict[str, Any]:
    """Return texts per second through the encoder, in the batches of an ingest."""
    encoder = librarian.parts.encoder
    assert encoder is not None
    rows = [msgspec.json.decode(line) async for _, line in lines(count, "alone")]
    texts = [embedding_text(row["author"], row["text"], None) for row in rows]
    before = _resident_mb()
    started = time.perf_counter()
    for at in range(0, count, ITEMS_AT_ONCE):
        await encoder.encode_passages(texts[at : at + ITEMS_AT_ONCE])
    return _row("encoder alone", count, time.perf_counter() - started, before)


async def benchmark() -> None:
    """Measure three ways to ingest into one fresh graph."""
    async with disposable() as (librarian, _):
        space = librarian.parts.space
        assert space is not None
        vectors = np.random.default_rng(1).normal(size=(PLAIN, space.dimension)).astype(np.float32)
        before = _resident_mb()
        seconds = await load(librarian, "ready-made", items(PLAIN, seed=1, prefix="r"), vectors)
        rows = [_row("graph verbs, ready-made vectors and all indexes", PLAIN, seconds, before)]
        progress("with encoding")
        await end_to_end(librarian, WARM_UP, "warm", encode=True)
        alone = await encoder_alone(librarian, ENCODED)
        encoded = await end_to_end(librarian, ENCODED, "encoded", encode=True)
        rows += [alone, encoded]
        progress("without encoding")
        rows.append(await end_to_end(librarian, PLAIN, "plain", encode=False))
        report("ingest", rows, with_encoding_of_encoder_alone=round(alone["seconds"] / encoded["seconds"], 2))


def _row(what: str, count: int, seconds: float, before: int) -> dict[str, Any]:
    return {
        "what": what,
        "items": count,
        "seconds": round(seconds, 1),
        "per_second": round(count / seconds),
        "peak_mb_before": before,
        "peak_mb_after": _resident_mb(),
    }


def _resident_mb() -> int:
    """Peak resident memory of this process so far, in MiB (Linux counts KiB)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


if __name__ == "__main__":
    main(benchmark)
