"""Disk space of a memory: a store with many memories and their vectors minus an empty one, by category.

Transaction logs are listed separately: the server prunes them itself. Size: LIBRARIAN_BENCH_DISK (50000) memories.
"""

import os
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import disposable, load, main, report, sentence
from graph.item import Memory, NewItem
from graph.local.server import ManagedServer
from retrieval.text import keyword_text

COUNT = int(os.environ.get("LIBRARIAN_BENCH_DISK", "50000"))
NAMESPACE = "disk"
_BLOCK = 512
_LOGS = "transaction logs"


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
    """Fill one of two fresh graphs and compare the sizes of their files after their servers have stopped."""
    made = memories(COUNT)
    empty, _ = await _sizes([])
    full, dimension = await _sizes(made)
    grown = {part: full[part] - empty[part] for part in full}
    store = sum(size for part, size in grown.items() if part != _LOGS)
    rows = [*(_row(part, size) for part, size in grown.items()), _row("a memory, without transaction logs", store)]
    text = sum(len(new.item.text or "") for new in made) / COUNT
    report("disk", rows, memories=COUNT, characters_a_memory=round(text), dimension=dimension)


async def _sizes(made: Sequence[NewItem]) -> tuple[dict[str, int], int]:
    """Return the bytes on disk of each part of a store with these items, and the dimension of a vector."""
    async with disposable() as (librarian, settings):
        space = librarian.parts.space
        dimension = space.dimension if space else 0
        vectors = np.random.default_rng(1).normal(size=(len(made), dimension)).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        await load(librarian, NAMESPACE, made, vectors if space else None)
        await librarian.parts.executor.run_migration("CALL db.awaitIndexes(300)")
        # A stopped server has written everything to disk.
        await ManagedServer(settings.home, settings.cache).stop()
        return _parts(settings.home / "data"), dimension


def _parts(data: Path) -> dict[str, int]:
    store = data / "databases" / "neo4j"
    indexes = store / "schema"
    kinds = {"vector indexes": _used(indexes, "vector"), "full-text indexes": _used(indexes, "fulltext")}
    kinds["other indexes"] = _used(indexes) - sum(kinds.values())
    graph = _used(store) - _used(indexes)
    return {"nodes, relationships, properties": graph, **kinds, _LOGS: _used(data / "transactions" / "neo4j")}


def _used(folder: Path, part: str = "") -> int:
    files = (path for path in folder.rglob("*") if path.is_file() and part in str(path.relative_to(folder)))
    return sum(path.stat().st_blocks * _BLOCK for path in files)


def _row(what: str, size: int) -> dict[str, Any]:
    return {"what": what, "bytes_a_memory": round(size / COUNT), "mb": round(size / 2**20, 1)}


if __name__ == "__main__":
    main(benchmark)
