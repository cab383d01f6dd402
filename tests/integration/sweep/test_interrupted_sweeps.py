"""A sweep that is cut short: by its caller, in its undoing; and two at one time."""

from contextlib import aclosing

import pytest

from graph.errors import LeaseHeld, LeaseLost
from graph.leases import leased
from librarian.base.errors import Conflict
from librarian.sweep.contracts import SweepQuery, SweepRequest
from librarian.sweep.plan import PAGE
from librarian.sweep.run import lease_name

# Edges and texts of the two pages and the bit that `many` stores.
PARTS = 6


@pytest.fixture
def twice(executor, namespace):
    """Return the work that a run has done twice: revisions of a memory, entries of its list."""

    async def read(sweep_id: str):
        return await executor.run_migration(
            "MATCH (m:Memory {namespace: $namespace})-[:HAS_REVISION]->(r:Revision {reason: $sweep_id}) "
            "WITH m, count(r) AS times WHERE times > 1 RETURN m.uid AS uid, 'revision' AS what "
            "UNION MATCH (m:Memory {namespace: $namespace})<-[c:CHANGED {sweep_id: $sweep_id}]-() "
            "WITH m, c.action + coalesce(c.edge_id, '') AS what, count(c) AS times WHERE times > 1 "
            "RETURN m.uid AS uid, what",
            {"namespace": namespace, "sweep_id": sweep_id},
        )

    return read


async def test_a_sweep_goes_on_from_any_point(
    many, uninterrupted, interrupted, sweep, shape, stored, twice, librarian, namespace
):
    """Left after each of its parts and resumed, it comes a part further each time, ends as if nothing had happened, and
    does nothing twice.
    """
    await many()
    before = await stored()
    expected, as_expected = uninterrupted
    sweep_id = await interrupted(1)
    for _ in range(PARTS - 2):
        assert await interrupted(1, resume=sweep_id) == sweep_id
    (begun,) = (await librarian.list_sweeps(namespace, SweepQuery())).sweeps
    assert begun.summary.memories_scanned == 2 * PAGE
    report = await sweep(resume=sweep_id)
    assert (report.status, report.summary, report.findings) == ("applied", expected.summary, expected.findings)
    assert await shape(namespace) == as_expected
    assert await twice(sweep_id) == []
    swept = (await stored())[0]
    undone = await librarian.undo_sweep(namespace, sweep_id)
    assert undone.memories_restored == sum(one != other for one, other in zip(before[0], swept, strict=True))
    assert await stored() == before


async def test_an_interrupted_undo_goes_on(many, sweep, stored, librarian, namespace):
    """Asked for again, it takes back the rest."""
    await many()
    before = await stored()
    done = await sweep()
    async with aclosing(librarian.undo_events(namespace, done.sweep_id)) as events:
        await anext(events)
    assert await stored() != before
    out = await librarian.undo_sweep(namespace, done.sweep_id)
    assert out.memories_restored < done.summary.memories_retyped
    assert await stored() == before


async def test_what_is_over_cannot_be_resumed(memories, sweep, librarian, namespace):
    """A sweep that is applied or undone has nothing left to do."""
    done = await sweep()
    with pytest.raises(Conflict, match="applied"):
        await sweep(resume=done.sweep_id)
    await librarian.undo_sweep(namespace, done.sweep_id)
    with pytest.raises(Conflict, match="undone"):
        await sweep(resume=done.sweep_id)


async def test_one_sweep_at_a_time(memories, sweep, stored, librarian, executor, namespace):
    """A second sweep, or an undo, is told who holds the lease and writes nothing; a dry run may go on."""
    done = await sweep(domains=["ops"])
    before = await stored()
    async with leased(executor, lease_name(namespace), "ada on harbor (process 7)"):
        with pytest.raises(LeaseHeld, match="ada on harbor"):
            await sweep()
        with pytest.raises(LeaseHeld, match="ada on harbor"):
            await librarian.undo_sweep(namespace, done.sweep_id)
        assert (await sweep(dry_run=True)).changes
        assert await stored() == before
    assert (await sweep()).status == "applied"


async def test_a_holder_that_is_gone_is_succeeded(memories, librarian, executor, namespace):
    """One who has lost the lease while it worked writes nothing any more."""
    async with aclosing(librarian.sweep_events(namespace, SweepRequest())) as events:
        await anext(events)
        await expire(executor, namespace)
        async with leased(executor, lease_name(namespace), "the next one"):
            with pytest.raises(LeaseLost):
                async for _ in events:
                    pass


async def expire(executor, namespace):
    """Let the lease of a namespace end now."""
    await executor.run_migration(
        "MATCH (lock:Lock {name: $name}) SET lock.expires_at = datetime() - duration('PT1S')",
        {"name": lease_name(namespace)},
    )
