"""Memories of one project as sweeps meet them: untyped, typed, doubled, odd."""

from typing import Any

import pytest

from librarian.contracts.sweeps import SweepRequest

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


@pytest.fixture
async def memories(ingest):
    """The memories above, stored."""
    report = await ingest(*({"kind": "memory", **row} for row in MEMORIES), embed=False)
    assert report.failed == 0
    return MEMORIES


@pytest.fixture
def sweep(librarian, namespace):
    """Sweeps the test's namespace."""

    async def run(**asked: Any):
        return await librarian.sweep(namespace, SweepRequest(**asked))

    return run


@pytest.fixture
def stored(executor, namespace):
    """Every memory and typed edge of the namespace, as far as a sweep may change them."""

    async def read():
        items = await executor.run_migration(
            "MATCH (m:Memory {namespace: $namespace}) RETURN m.uid AS uid, m {.text, .type, .type_confidence, .tags, "
            ".name, .search_text, .source_hash, .domain, .importance} AS memory, m:CjkText AS cjk ORDER BY uid",
            {"namespace": namespace},
        )
        edges = await executor.run_migration(
            "MATCH (a:Memory {namespace: $namespace})-[r:CAUSES|BLOCKS|ENABLES|RELATES_TO|PROPOSED]->(b) "
            "RETURN a.uid AS source, type(r) AS type, b.uid AS target, properties(r) AS properties "
            "ORDER BY source, target, type",
            {"namespace": namespace},
        )
        return items, edges

    return read
