"""Memories of one project as sweeps meet them: untyped, typed, doubled, odd; and many of them."""

from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Any

import pytest

from librarian.sweep.contracts import SweepReport, SweepRequest
from librarian.sweep.plan import PAGE

MEMORIES: list[dict[str, Any]] = [
    {
        "uid": "decision",
        "text": "Decision: we chose Postgres for the billing service because MySQL lost writes on ADR-7. "
        "It runs on port 5433 and must not be reachable from outside.",
        "domain": "billing",
        "importance": 8,
    },
    {
        "uid": "problem",
        "text": "Problem: the nightly export failed, error: disk quota exceeded on /var/exports. "
        "This was caused by the verbose logging in export_job.py.",
        "domain": "billing",
        "importance": 9,
        "occurred_at": "2026-03-02T00:00:00Z",
    },
    {
        "uid": "cause",
        "text": "Verbose logging was switched on in export_job.py on Monday.",
        "domain": "billing",
        "importance": 3,
        "agent": "ada",
        "occurred_at": "2026-03-01T00:00:00Z",
    },
    {"uid": "link", "text": "https://example.org/runbook", "domain": "ops"},
    {"uid": "vague", "text": "Blue, mostly.", "domain": "ops", "importance": 10},
    {"uid": "stated", "text": "Ship on Fridays only after the smoke test.", "type": "Pattern", "tags": ["release"]},
    {"uid": "twin-a", "text": "TIL: the cache of the search page is warmed by the deploy hook at 06:00 every day."},
    {
        "uid": "twin-b",
        "text": "TIL: the cache of the search page is warmed by the deploy hook at 06:00 every day, too.",
    },
]
Many = Callable[..., Awaitable[int]]


@pytest.fixture
async def memories(ingest):
    """The memories above, stored."""
    report = await ingest(*({"kind": "memory", **row} for row in MEMORIES), embed=False)
    assert report.failed == 0
    return MEMORIES


@pytest.fixture
def many(ingest, namespace) -> Many:
    """Stores memories for two pages and a bit, some of which cause others; returns how many."""

    async def store(into: str = namespace) -> int:
        count = 2 * PAGE + 20
        rows = [
            {"kind": "memory", "uid": f"m{number:04}", "text": _text(number), "domain": "mail"}
            for number in range(count)
        ]
        assert (await ingest(*rows, into=into, embed=False)).failed == 0
        return count

    return store


def _text(number: int) -> str:
    match number % 3:
        case 0:
            return (
                f"Decision: queue q{number} is drained before ticket OPS-{number} is closed. Otherwise mails are lost."
            )
        case 1:
            return f"Problem: mails were late because of OPS-{number - 1}. Not one of {number} came in time."
        case _:
            return f"Notes of day {number}, nothing else."


@pytest.fixture
def sweep(librarian, namespace):
    """Sweeps the test's namespace."""

    async def run(into: str = namespace, **asked: Any) -> SweepReport:
        return await librarian.sweep(into, SweepRequest(**asked))

    return run


@pytest.fixture
def interrupted(librarian, namespace):
    """Begins a sweep and leaves it after some of its parts are committed; gives its id."""

    async def run(parts: int, **asked: Any) -> str:
        async with aclosing(librarian.sweep_events(namespace, SweepRequest(**asked))) as events:
            for _ in range(parts):
                event = await anext(events)
        return event.progress.sweep_id

    return run


@pytest.fixture
def stored(executor, namespace):
    """Every memory and typed edge of the namespace, as far as a sweep may change them."""

    async def read(of: str = namespace):
        items = await executor.run_migration(
            "MATCH (m:Memory {namespace: $namespace}) RETURN m.uid AS uid, m {.text, .type, .type_confidence, .tags, "
            ".name, .search_text, .source_hash, .domain, .importance} AS memory, m:CjkText AS cjk ORDER BY uid",
            {"namespace": of},
        )
        edges = await executor.run_migration(
            "MATCH (a:Memory {namespace: $namespace})-[r:CAUSES|BLOCKS|ENABLES|RELATES_TO|PROPOSED]->(b) "
            "RETURN a.uid AS source, type(r) AS type, b.uid AS target, properties(r) AS properties "
            "ORDER BY source, target, type",
            {"namespace": of},
        )
        return items, edges

    return read


@pytest.fixture
def memory(stored):
    """The properties of one memory as it is stored."""

    async def read(uid: str) -> dict[str, Any]:
        items, _ = await stored()
        return next(item["memory"] for item in items if item["uid"] == uid)

    return read


@pytest.fixture
def shape(stored):
    """The same without what differs from one sweep or namespace to another."""

    async def read(of: str):
        items, edges = await stored(of)
        return [
            (item["uid"], item["memory"]["text"], item["memory"].get("type"), item["memory"]["tags"]) for item in items
        ], [(edge["source"], edge["type"], edge["target"], edge["properties"]["confidence"]) for edge in edges]

    return read


@pytest.fixture
async def uninterrupted(many, sweep, shape, namespace):
    """Return the outcome of a sweep of the same memories when nothing disturbs it."""
    await many(into=f"{namespace}-twin")
    report = await sweep(into=f"{namespace}-twin")
    return report, await shape(f"{namespace}-twin")
