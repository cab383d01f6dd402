"""Bytes on disk that a memory takes: the store with many memories and their vectors, after a checkpoint, less the same
store before they came, by what they are spent on.

Transaction logs are told apart: the server prunes them by itself. Size: LIBRARIAN_BENCH_DISK (50000) memories.
"""

import os
import random
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import disposable, load, main, report, sentence
from graph.item import Memory, NewItem
from librarian.app import Librarian
from retrieval.text import keyword_text

COUNT = int(os.environ.get("LIBRARIAN_BENCH_DISK", "50000"))
NAMESPACE = "disk"
_BLOCK = 512


def memories(count: int) -> list[NewItem]:
    """Memories of about 25 words, with type and domain."""
    source = random.Random(3)
    made = []
    for number in range(count):
        text = f"{sentence(source, 25).capitalize()}."
        memory = Memory(
            namespace=NAMESPACE,
            uid=f"{NAMESPACE}{number}",
            name=text[:60],
            text=text,
            source_hash=f"hash-{number}",
            type="Insight",
            type_confidence=0.9,
            domain=f"domain{number % 20}",
            agent="bench",
            importance=5,
        )
        made.append(NewItem(memory, keyword_text(text)))
    return made


async def benchmark() -> None:
    """One fresh graph, the size of its files before and after."""
    async with disposable() as (librarian, settings):
        made = memories(COUNT)
        space = librarian.parts.space
        dimension = space.dimension if space else 0
        before = await _sizes(librarian, settings.home / "data")
        vectors = np.random.default_rng(1).normal(size=(COUNT, dimension)).astype(np.float32) if dimension else None
        if vectors is not None:
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        seconds = await load(librarian, NAMESPACE, made, vectors)
        await librarian.parts.executor.run_migration("CALL db.awaitIndexes(300)")
        after = await _sizes(librarian, settings.home / "data")
    grown = {part: after[part] - before[part] for part in after}
    store = sum(size for part, size in grown.items() if part != "transaction logs")
    rows: list[dict[str, Any]] = [_row(part, size) for part, size in grown.items()]
    rows.append(_row("a memory on disk, without transaction logs", store))
    text = sum(len(new.item.text or "") for new in made) / COUNT
    report("disk", rows, memories=COUNT, characters_a_memory=round(text), dimension=dimension, seconds=round(seconds))


async def _sizes(librarian: Librarian, data: Path) -> dict[str, int]:
    """Return the bytes that the parts of the store take on disk, with nothing left in the page cache alone."""
    await librarian.parts.executor.run_migration("CALL db.checkpoint()")
    store = data / "databases" / "neo4j"
    indexes = store / "schema"
    kinds = {
        "vector indexes": _used(indexes, "vector"),
        "full-text indexes": _used(indexes, "fulltext"),
    }
    kinds["other indexes"] = _used(indexes) - sum(kinds.values())
    return {
        "nodes, relationships, properties": _used(store) - _used(indexes),
        **kinds,
        "transaction logs": _used(data / "transactions" / "neo4j"),
    }


def _used(folder: Path, part: str = "") -> int:
    files = (path for path in folder.rglob("*") if path.is_file() and part in str(path.relative_to(folder)))
    return sum(path.stat().st_blocks * _BLOCK for path in files)


def _row(what: str, size: int) -> dict[str, Any]:
    return {"what": what, "bytes_a_memory": round(size / COUNT), "mb": round(size / 2**20, 1)}


if __name__ == "__main__":
    main(benchmark)
