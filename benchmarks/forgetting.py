"""Permanence of forgetting: planted items are forgotten and then brought back in every possible way.

Prints the forgetting rate per second, the number of items that came back, the number of remaining neighbours, whether
planted strings are left in the graph, the cost of tombstones for an ingest, and the files of the stopped database that
contain planted strings: in the old home, and in a new one made from an export of the old. LIBRARIAN_BENCH_FORGOTTEN:
number of planted items (10,000).
"""

import io
import os
import random
import re
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.common import disposable, main, progress, report, sentence
from graph.local.server import ManagedServer
from librarian.app import Librarian, open_librarian
from librarian.items.contracts import DeleteInput, IngestReport
from librarian.sweep.contracts import SweepRequest

PLANTED = int(os.environ.get("LIBRARIAN_BENCH_FORGOTTEN", "10000"))
NEIGHBOURS = PLANTED // 2
FILES = 20
NAMESPACE = "forgetful"
_AT_ONCE = 1000
_MARK = "planted"
# A shorter string is packed into a record of the store, where a byte scan cannot find it.
_LONG = f"{_MARK}-so-long-that-it-stands-in-the-files-of-the-store-as-it-is-and-is-not-packed-"

Row = dict[str, Any]


def rows(count: int, prefix: str, seed: int) -> list[Row]:
    """Return equal numbers of messages, facts and memories, each with unique words."""
    source = random.Random(seed)
    return [_row(f"{prefix}{number}", number, sentence(source)) for number in range(count)]


def _row(uid: str, number: int, text: str) -> Row:
    said = f"{number} {uid} {text}"
    match number % 3:
        case 0:
            return {"kind": "message", "uid": uid, "conversation_id": f"c{number % 50}", "text": said}
        case 1:
            return {"kind": "fact", "uid": uid, "text": said, "person_id": f"p{number % 20}"}
        case _:
            return {"kind": "memory", "uid": uid, "text": said}


def source_file(number: int) -> bytes:
    """Return a file with a function to be forgotten."""
    return f"def {_MARK}_function_{number}():\n    return 'the {_MARK} secret of file number {number}'\n".encode()


async def ingest(librarian: Librarian, made: Sequence[Row], namespace: str = NAMESPACE) -> IngestReport:
    """Store rows."""

    async def lines() -> AsyncIterator[tuple[int, bytes]]:
        for number, row in enumerate(made, start=1):
            yield number, msgspec.json.encode(row)

    return await librarian.ingest(lines(), namespace=namespace)


async def forget(librarian: Librarian, uids: Sequence[str]) -> None:
    """Forget items in batches of a thousand."""
    for start in range(0, len(uids), _AT_ONCE):
        asked = DeleteInput(uids=list(uids[start : start + _AT_ONCE]))
        preview = await librarian.delete_items(NAMESPACE, asked)
        await librarian.delete_items(NAMESPACE, msgspec.structs.replace(asked, confirm_token=preview.confirm_token))


async def counted(librarian: Librarian) -> tuple[int, int, int]:
    """Return the numbers of planted items, of neighbours, and of nodes and edges that hold a planted string."""
    query = (
        "MATCH (m:Item {namespace: $ns}) "
        "RETURN sum(CASE WHEN m.uid STARTS WITH $mark OR m.text CONTAINS $mark THEN 1 ELSE 0 END) AS planted, "
        "sum(CASE WHEN m.uid STARTS WITH 'neighbour' THEN 1 ELSE 0 END) AS neighbours"
    )
    driver = librarian.parts.executor.driver
    found, _, _ = await driver.execute_query(query, {"ns": NAMESPACE, "mark": _MARK})
    left, _, _ = await driver.execute_query(RESIDUE, {"mark": _MARK})
    return found[0]["planted"], found[0]["neighbours"], left[0]["left"]


# The change feed names uids so that followers drop forgotten items, and holds no texts.
RESIDUE = (
    "CALL () { MATCH (n) WHERE NOT n:ChangeSet AND any(key IN keys(n) WHERE toStringOrNull(n[key]) CONTAINS $mark "
    "  OR any(part IN CASE WHEN n[key] IS :: LIST<STRING NOT NULL> THEN n[key] ELSE [] END WHERE part CONTAINS $mark)) "
    "  RETURN count(n) AS nodes } "
    "CALL () { MATCH ()-[r]->() WHERE any(key IN keys(r) WHERE toStringOrNull(r[key]) CONTAINS $mark) "
    "  RETURN count(r) AS edges } "
    "RETURN nodes + edges AS left"
)


async def attempts(librarian: Librarian, planted: Sequence[Row], before: io.BytesIO) -> AsyncIterator[tuple[str, int]]:
    """Bring back forgotten items in every way, and yield each way with the number of items it rejected."""
    renamed = [{**row, "uid": f"again-{row['uid']}"} for row in planted]
    yield "ingest", (await ingest(librarian, planted)).held_back
    yield "ingest under other uids", (await ingest(librarian, renamed)).held_back
    yield "import, skipping what is there", (await librarian.import_from(before, existing="skip")).held_back
    yield "import, replacing", (await librarian.import_from(before, existing="replace")).held_back
    restored = await librarian.restore(before, replace=True)
    yield "restore", restored.restored.held_back
    await librarian.sweep(NAMESPACE, SweepRequest(limit=500))
    yield "sweep", 0
    held = 0
    for number in range(FILES):
        await librarian.delete_file(NAMESPACE, f"src/{number}.py")
        held += (await librarian.put_file(NAMESPACE, f"src/{number}.py", source_file(number))).held_back
    yield "index", held


async def benchmark() -> None:
    """Plant, forget, bring back, restart, bring back again; then time an ingest beside the tombstones."""
    planted, neighbours = rows(PLANTED, _LONG, 1), rows(NEIGHBOURS, "neighbour-", 2)
    table: list[Row] = []

    async def check(librarian: Librarian, what: str, held: int, started: float) -> None:
        back, there, left = await counted(librarian)
        seconds = round(time.perf_counter() - started, 1)
        table.append(
            {"what": what, "held_back": held, "came_back": back, "neighbours": there, "strings_left": left,
             "seconds": seconds}
        )  # fmt: skip
        progress(str(table[-1]))

    async with disposable() as (librarian, settings):
        before, uids = await plant(librarian, planted, neighbours)
        started = time.perf_counter()
        await forget(librarian, uids)
        per_s = round(len(uids) / (time.perf_counter() - started))
        await check(librarian, "forgotten", 0, started)
        started = time.perf_counter()
        async for what, held in attempts(librarian, planted, before):
            await check(librarian, what, held, started)
            started = time.perf_counter()
        cost = await costs(librarian)
        await ManagedServer(settings.home, settings.cache).stop()  # with a checkpoint
        files = written_in(settings.home)
        async with open_librarian(settings, purpose="benchmark", linger_s=0) as again:
            started = time.perf_counter()
            await check(again, "ingest after a restart", (await ingest(again, planted)).held_back, started)
            later = io.BytesIO()
            await again.export_into(later, [NAMESPACE])
    new_files = await imported_anew(later)
    report(
        "forgetting",
        table,
        planted=len(uids),
        planted_neighbours=NEIGHBOURS,
        forgotten_per_s=per_s,
        ingest_of_2000_s=cost,
        files=files,
        new_files=new_files,
    )


def written_in(home: Path) -> dict[str, int]:
    """Return the occurrences of the planted string below a folder, by file name without numbers."""
    found: Counter[str] = Counter()
    for path in sorted(home.rglob("*")):
        if path.is_file():
            times = path.read_bytes().lower().count(_MARK.encode())
            found[re.sub(r"\d+", "N", str(path.relative_to(home)))] += times
    return {name: times for name, times in found.items() if times}


async def imported_anew(export: io.BytesIO) -> dict[str, int]:
    """Import an export into a new home; return its `written_in`."""
    async with disposable() as (librarian, settings):
        await librarian.import_from(export)
        await ManagedServer(settings.home, settings.cache).stop()
        return written_in(settings.home)


async def plant(
    librarian: Librarian, planted: Sequence[Row], neighbours: Sequence[Row]
) -> tuple[io.BytesIO, list[str]]:
    """Store everything. Return an export of it, and the uids to be forgotten."""
    await ingest(librarian, [*planted, *neighbours])
    for number in range(FILES):
        await librarian.put_file(NAMESPACE, f"src/{number}.py", source_file(number))
    before = io.BytesIO()
    await librarian.export_into(before, [NAMESPACE])
    chunks, _, _ = await librarian.parts.executor.driver.execute_query(
        "MATCH (c:FileChunk {namespace: $ns}) RETURN collect(c.uid) AS uids", {"ns": NAMESPACE}
    )
    return before, [*(row["uid"] for row in planted), *chunks[0]["uids"]]


async def costs(librarian: Librarian, runs: int = 4) -> dict[str, float]:
    """Return the best times of ingesting 2,000 items, beside all the tombstones and without any."""
    best: dict[str, float] = {}
    for run in range(runs):
        for namespace in (NAMESPACE, "remembering"):
            made = rows(2000, f"neutral-{run}-", 10 + run)
            started = time.perf_counter()
            await ingest(librarian, made, namespace)
            best[namespace] = min(best.get(namespace, float("inf")), round(time.perf_counter() - started, 2))
    return best


if __name__ == "__main__":
    main(benchmark)
