"""Which job runs next, and what becomes of failed, cancelled and late ones."""

import asyncio
import threading
import time

import pytest

from retrieval.encoders.errors import EncoderUnavailable
from retrieval.encoders.workers import Priority, Workers


@pytest.fixture
async def workers():
    one = Workers(1, name="test-worker")
    yield one
    await one.aclose()


@pytest.fixture
async def gate(workers):
    """Holds the only thread back until it is set: one call waits in it, the one that is let through behind it."""
    gate = threading.Event()
    held = [asyncio.ensure_future(workers.run(Priority.QUERY, gate.wait)) for _ in range(2)]
    await asyncio.sleep(0)
    yield gate
    gate.set()
    await asyncio.gather(*held)


async def test_queries_run_before_waiting_passages_in_order_of_arrival(workers, gate):
    ran: list[str] = []
    jobs = [
        asyncio.ensure_future(workers.run(priority, lambda name=name: ran.append(name)))
        for priority, name in [
            (Priority.PASSAGE, "p1"),
            (Priority.PASSAGE, "p2"),
            (Priority.QUERY, "q1"),
            (Priority.QUERY, "q2"),
        ]
    ]
    await asyncio.sleep(0)
    gate.set()
    await asyncio.gather(*jobs)
    assert ran == ["q1", "q2", "p1", "p2"]


async def test_a_cancelled_job_never_runs(workers, gate):
    ran: list[str] = []
    job = asyncio.ensure_future(workers.run(Priority.PASSAGE, lambda: ran.append("cancelled")))
    await asyncio.sleep(0)
    job.cancel()
    await asyncio.wait([job])
    gate.set()
    await workers.run(Priority.PASSAGE, lambda: ran.append("next"))
    assert ran == ["next"]


async def test_an_error_reaches_the_caller_and_the_thread_lives_on(workers):
    with pytest.raises(ZeroDivisionError):
        await workers.run(Priority.QUERY, lambda: 1 / 0)
    assert await workers.run(Priority.QUERY, lambda: 2) == 2


@pytest.mark.parametrize("steps", range(8))
async def test_a_job_cancelled_around_its_turn_holds_nobody_up(workers, gate, steps):
    """Whether it waits, has just got its turn, or runs: the jobs behind it run."""
    jobs = [asyncio.ensure_future(workers.run(Priority.PASSAGE, lambda: "ran")) for _ in range(4)]
    await asyncio.sleep(0)
    gate.set()
    for _ in range(steps):
        time.sleep(0.005)  # noqa: ASYNC251 - the threads go on, the loop does not
        await asyncio.sleep(0)
    jobs[0].cancel()
    async with asyncio.timeout(30):
        results = await asyncio.gather(*jobs, return_exceptions=True)
        assert results[1:] == ["ran"] * 3
        assert await workers.run(Priority.QUERY, lambda: "next") == "next"


async def test_closing_finishes_running_calls_and_refuses_the_others(workers, gate):
    waiting = asyncio.ensure_future(workers.run(Priority.PASSAGE, lambda: "never"))
    await asyncio.sleep(0)
    closing = asyncio.ensure_future(workers.aclose())
    with pytest.raises(EncoderUnavailable, match="closed"):
        await waiting
    with pytest.raises(EncoderUnavailable, match="closed"):
        await workers.run(Priority.QUERY, lambda: "late")
    assert not closing.done()
    gate.set()
    await closing


async def test_as_many_jobs_run_side_by_side_as_there_are_threads():
    two = Workers(2, name="test-worker")
    meeting = threading.Barrier(2, timeout=30)
    await asyncio.gather(two.run(Priority.PASSAGE, meeting.wait), two.run(Priority.PASSAGE, meeting.wait))
    await two.aclose()


async def test_waiting_calls_are_counted_by_priority(workers, gate):
    assert workers.waiting() == {"query": 0, "passage": 0}
    priorities = [Priority.PASSAGE, Priority.PASSAGE, Priority.QUERY]
    jobs = [asyncio.ensure_future(workers.run(priority, lambda: None)) for priority in priorities]
    await asyncio.sleep(0)
    assert workers.waiting() == {"query": 1, "passage": 2}
    jobs[0].cancel()
    await asyncio.wait([jobs[0]])
    assert workers.waiting() == {"query": 1, "passage": 1}
    gate.set()
    await asyncio.gather(*jobs[1:])
    assert workers.waiting() == {"query": 0, "passage": 0}
