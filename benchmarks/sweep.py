"""Speed and memory of the sweep: plan, apply and undo over encoded memories, and one long sweep with watched memory.

Sizes: LIBRARIAN_BENCH_SWEEP (1100) memories with vectors, LIBRARIAN_BENCH_SWEEP_LONG (100000) without.
"""

import os
import random
import resource
import time
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path
from typing import Any
from uuid import uuid4

import msgspec

from benchmarks.common import disposable, main, progress, report, sentence
from librarian.app import Librarian
from librarian.sweep.contracts import SweepPart, SweepReport, SweepRequest

ENCODED = int(os.environ.get("LIBRARIAN_BENCH_SWEEP", "1100"))
LONG = int(os.environ.get("LIBRARIAN_BENCH_SWEEP_LONG", "100000"))
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


async def lines(count: int) -> AsyncIterator[tuple[int, bytes]]:
    """Memories of about eighty words: decisions, problems that name tickets, and notes without a mark."""
    source = random.Random(7)
    for i in range(count):
        body = ". ".join(sentence(source).capitalize() for _ in range(5))
        opening = (
            f"Decision: we chose {sentence(source, 3)} for OPS-{i}, because of {sentence(source, 4)}",
            f"Problem: {sentence(source, 4)} failed because of OPS-{max(0, i - 1)}",
            f"{sentence(source, 6)}",
        )[i % 3]
        row = {"kind": "memory", "uid": f"m{i}", "text": f"{opening}. {body}.", "importance": 1 + i % 10}
        yield i + 1, msgspec.json.encode(row)


async def timed(librarian: Librarian, namespace: str, what: str, request: SweepRequest) -> tuple[dict[str, Any], str]:
    """Return one sweep with its time, its changes, and resident memory after each quarter; and its id."""
    started, cpu, resident, changes = time.perf_counter(), time.process_time(), [_resident_mb()], 0
    async with aclosing(librarian.sweep_events(namespace, request)) as events:
        async for event in events:
            match event:
                case SweepReport():
                    done = event
                case SweepPart():
                    changes += len(event.changes)
                    reported = event.progress
                    progress(f"{what}: {reported.stage} {reported.done} of {reported.total}")
                    quarter = 4 * reported.done // max(1, reported.total) + (4 if reported.stage == "texts" else 0)
                    if quarter >= len(resident):
                        resident.append(_resident_mb())
    row = {
        "what": what,
        "memories": done.summary.memories_scanned,
        "seconds": round(time.perf_counter() - started, 1),
        "cpu_seconds": round(time.process_time() - cpu, 1),
        "changes": changes,
        "resident_mb_by_eighths": resident,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }
    return row, done.sweep_id


async def stored(librarian: Librarian, count: int, *, encode: bool) -> str:
    """Return a new namespace with `count` memories."""
    namespace = f"sweep-bench-{uuid4().hex[:8]}"
    assert (await librarian.ingest(lines(count), namespace=namespace)).failed == 0
    if encode:
        await librarian.embed_pending(on_progress=lambda done, total: progress(f"encoding {done} of {total}"))
    return namespace


async def benchmark() -> None:
    """Plan, apply, undo; then the long one."""
    async with disposable() as (librarian, _):
        namespace = await stored(librarian, ENCODED, encode=True)
        planned, _ = await timed(librarian, namespace, "plan", SweepRequest(dry_run=True))
        applied, sweep_id = await timed(librarian, namespace, "sweep", SweepRequest())
        started = time.perf_counter()
        undone = await librarian.undo_sweep(namespace, sweep_id)
        back = {
            **dict.fromkeys(applied, ""),
            "what": "undo",
            "memories": undone.memories_restored,
            "seconds": round(time.perf_counter() - started, 1),
        }
        rows = [planned, applied, back]
        if LONG:
            namespace = await stored(librarian, LONG, encode=False)
            rows.append((await timed(librarian, namespace, "long sweep, no vectors", SweepRequest()))[0])
        report("sweep", rows)


def _resident_mb() -> int:
    """Resident memory of this process now, in MiB."""
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * _PAGE_BYTES >> 20


if __name__ == "__main__":
    main(benchmark)
