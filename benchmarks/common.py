"""Shared by the benchmarks: a disposable graph with many items, percentiles, and the report."""

import asyncio
import json
import os
import platform
import random
import statistics
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from graph.ingest import store_batch
from graph.item import Message, NewItem
from graph.local.server import ManagedServer
from graph.spaces import put_vectors
from graph.types import ItemVectors
from librarian.app import Librarian, open_librarian
from librarian.base.settings.settings import Settings
from retrieval.text import keyword_text

RESULTS = Path(__file__).parent / "results"
_TEXT = """
deploy release rollback pool latency index invoice booking customer cluster migration schema cache token
refresh alert pager timeout retry queue worker shard backup restore parser encoder vector ranking fusion
threshold budget meeting decision incident postmortem timezone lisbon tokyo harbor container vessel route
schedule berth customs flag feature rollout canary staging production review merge branch commit pipeline test
flaky assertion fixture database connection transaction lock deadlock replica leader quorum snapshot
checkpoint memory heap thread async
"""
_WORDS = _TEXT.split()


@dataclass(frozen=True, slots=True)
class Timing:
    """Milliseconds of one measurement."""

    what: str
    p50_ms: float
    p95_ms: float
    runs: int


async def measure(what: str, call: Callable[[int], Awaitable[Any]], *, runs: int, warmup: int = 30) -> Timing:
    """Time `call(i)` one after another, after `warmup` unmeasured calls."""
    for i in range(warmup):
        await call(i)
    samples = []
    for i in range(runs):
        started = time.perf_counter()
        await call(warmup + i)
        samples.append((time.perf_counter() - started) * 1000)
    return timing(what, samples)


def timing(what: str, samples_ms: Sequence[float]) -> Timing:
    """Percentiles of samples."""
    cuts = statistics.quantiles(samples_ms, n=20, method="inclusive")
    return Timing(what, round(statistics.median(samples_ms), 1), round(cuts[18], 1), len(samples_ms))


def sentence(source: random.Random, words: int = 14) -> str:
    """Return a made-up sentence; about a hundred words with a long-tailed distribution."""
    return " ".join(_WORDS[min(int(source.expovariate(1 / 25)), len(_WORDS) - 1)] for _ in range(words))


def items(count: int, *, seed: int, prefix: str, first: int = 0) -> list[NewItem]:
    """Messages with made-up texts, numbered from `first`, five minutes apart and in a hundred conversations."""
    source = random.Random(seed)
    start = datetime(2025, 1, 1, tzinfo=UTC)
    made = []
    for i in range(first, first + count):
        author = f"author{i % 20}"
        sent_at = start + timedelta(minutes=5 * i)
        text = sentence(source)
        message = Message(
            namespace=prefix,
            uid=f"{prefix}{i}",
            name=text[:60],
            text=text,
            occurred_at=sent_at,
            source_hash=f"{seed}-{i}",
            message_id=f"{prefix}{i}",
            author_name=author,
            conversation_id=f"c{i % 100}",
            position=i,
            sent_at=sent_at,
        )
        made.append(NewItem(message, keyword_text(text, author=author, when=sent_at)))
    return made


async def load(librarian: Librarian, namespace: str, made: Sequence[NewItem], vectors: Any | None) -> float:
    """Store `made` in batches of 500, with `vectors` (one row an item) if given; returns seconds."""
    executor, space = librarian.parts.executor, librarian.parts.space
    started = time.perf_counter()
    for at in range(0, len(made), 500):
        batch = made[at : at + 500]
        await store_batch(executor, namespace, batch)
        if vectors is not None and space is not None:
            rows = [
                ItemVectors(namespace, item.item.uid, 1, [vectors[at + i].tolist()]) for i, item in enumerate(batch)
            ]
            await put_vectors(executor, space, rows)
        progress(f"{namespace}: {at + len(batch)} of {len(made)} items")
    return time.perf_counter() - started


def progress(text: str) -> None:
    """A line on stderr that the next one overwrites."""
    print(f"\r{text:<70}", end="", file=sys.stderr, flush=True)


@asynccontextmanager
async def disposable(**env: str) -> AsyncIterator[tuple[Librarian, Settings]]:
    """A Librarian on a managed server in a temporary home, gone afterwards."""
    with TemporaryDirectory(prefix="librarian-bench-") as folder:
        settings = Settings.from_env({**_passed(), "LIBRARIAN_HOME": str(Path(folder) / "home"), **env})
        async with open_librarian(settings, purpose="benchmark", linger_s=0) as librarian:
            yield librarian, settings
        await ManagedServer(settings.home, settings.cache).stop()


def _passed() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name.startswith(("LIBRARIAN_", "NEO4J_"))}


def report(name: str, rows: Sequence[Timing] | Sequence[dict[str, Any]], **facts: Any) -> None:
    """Print a table and write `results/NAME.json`, including the hardware and versions."""
    plain = [asdict(row) if isinstance(row, Timing) else row for row in rows]
    progress("")
    print(file=sys.stderr)
    columns = list(plain[0])
    widths = [max(len(column), *(len(str(row[column])) for row in plain)) for column in columns]
    for row in [dict(zip(columns, columns, strict=True)), *plain]:
        print("  ".join(str(row[column]).ljust(width) for column, width in zip(columns, widths, strict=True)))
    facts |= {
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "measured_at": datetime.now(UTC).isoformat(),
    }
    for key, value in facts.items():
        print(f"{key}: {value}")
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps({"rows": plain, **facts}, indent=2, default=str), encoding="utf-8")


def main(benchmark: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run one benchmark from the command line."""
    asyncio.run(benchmark())
