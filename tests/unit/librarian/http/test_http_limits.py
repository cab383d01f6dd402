import asyncio
import subprocess
import sys
import tempfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from librarian.base.errors import NotReady, Overloaded
from librarian.base.settings.values import Rate
from librarian.http.limits import Capacity, RateLimiter
from librarian.http.workers import SharedDues


class Hands:
    """A clock that is moved by hand."""

    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


RATES = st.builds(Rate, st.integers(1, 50), st.sampled_from([1.0, 60.0, 3600.0]))


@given(RATES, st.lists(st.floats(0, 10), max_size=60))
def test_in_no_period_are_more_granted_than_two_bursts_and_after_rest_a_whole_burst_is(rate, gaps):
    """However requests come: what is granted within one period is at most the burst and what grows back meanwhile."""
    clock = Hands()
    limiter, granted = RateLimiter(rate, clock=clock), []
    for gap in gaps:
        clock.now += gap * rate.per_s / 10
        if limiter.take("a") == 0:
            granted.append(clock.now)
    for start in granted:
        assert sum(start <= moment < start + rate.per_s for moment in granted) <= 2 * rate.requests
    clock.now += rate.per_s
    assert [limiter.take("a") for _ in range(rate.requests)] == [0] * rate.requests
    assert limiter.take("a") > 0


@given(RATES, st.integers(0, 200))
def test_the_wait_is_long_enough_and_no_longer(rate, requests):
    """After exactly the time told, one request is granted; a thousandth earlier it is not."""
    clock = Hands()
    limiter = RateLimiter(rate, clock=clock)
    for _ in range(rate.requests + requests):
        wait = limiter.take("a")
    wait = wait or limiter.take("a")
    clock.now += wait * 0.999
    assert limiter.take("a") > 0
    clock.now += wait * 0.001
    assert limiter.take("a") == 0


@given(RATES, st.lists(st.tuples(st.floats(0, 2), st.sampled_from("abc"), st.booleans()), max_size=60))
def test_two_limiters_over_one_file_are_one(rate, requests):
    """Whichever of two processes a request comes to, it is granted or waits as if there were one."""
    clock = Hands()
    with tempfile.TemporaryFile() as file:
        file.truncate(SharedDues.SIZE)
        one, other = (RateLimiter(rate, dues=SharedDues(file.fileno()), clock=clock) for _ in range(2))
        alone = RateLimiter(rate, clock=clock)
        for gap, caller, first in requests:
            clock.now += gap * rate.per_s / 10
            assert (one if first else other).take(caller) == alone.take(caller)


TAKES = """
import sys
from librarian.base.settings.values import Rate
from librarian.http.limits import RateLimiter
from librarian.http.workers import SharedDues
limiter = RateLimiter(Rate(500, 3600.0), dues=SharedDues(int(sys.argv[1])))
print(sum(limiter.take("a") == 0 for _ in range(2000)))
"""


def test_processes_that_count_at_the_same_time_lose_nothing():
    """Three processes take from one rate as fast as they can: together they get it once."""
    with tempfile.TemporaryFile() as file:
        file.truncate(SharedDues.SIZE)
        command = [sys.executable, "-c", TAKES, str(file.fileno())]
        takers = [
            subprocess.Popen(command, pass_fds=[file.fileno()], stdout=subprocess.PIPE, text=True) for _ in range(3)
        ]
        granted = [int(taker.communicate()[0]) for taker in takers]
    assert 500 <= sum(granted) <= 502, granted  # what grows back meanwhile


def test_a_full_table_forgets_whose_request_was_due_longest_ago():
    """A flood of addresses takes room from each other, not from a caller that keeps coming."""
    clock = Hands()
    with tempfile.TemporaryFile() as file:
        file.truncate(SharedDues.SIZE)
        limiter = RateLimiter(Rate(1, 60.0), dues=SharedDues(file.fileno()), clock=clock)
        for number in range(60_000):
            limiter.take(str(number))
            clock.now += 0.001
        assert limiter.take("regular") == 0
        clock.now += 0.001
        assert limiter.take("regular") > 0
        assert limiter.take("0") == 0


def test_no_rate_is_no_limit():
    """`off` counts nothing."""
    limiter = RateLimiter(Rate(0, 1.0))
    assert {limiter.take("a") for _ in range(10_000)} == {0.0}


def test_memory_is_bounded_by_forgetting_who_came_longest_ago():
    """After a flood of addresses the first ones count as new again, and one that keeps coming is not forgotten."""
    limiter = RateLimiter(Rate(1, 60.0), clock=Hands())
    limiter.take("regular")
    for number in range(30_000):
        limiter.take(str(number))
        if number % 1000 == 0:
            assert limiter.take("regular") > 0
    assert limiter.take("29999") > 0
    assert limiter.take("0") == 0


@pytest.mark.parametrize("while_running", [True, False])
async def test_a_slot_is_free_again_whatever_happens(while_running):
    """A request that is cancelled in the queue or at work, or fails, leaves its place to the next."""
    capacity = Capacity(running=1, queued=1)

    async def work():
        async with capacity.slot():
            await asyncio.Event().wait()

    running = asyncio.create_task(work())
    await asyncio.sleep(0)
    waiting = asyncio.create_task(work())
    await asyncio.sleep(0)
    for task in (running, waiting) if while_running else (waiting, running):
        task.cancel()
    await asyncio.wait([running, waiting])
    with pytest.raises(ZeroDivisionError):
        async with capacity.slot():
            raise ZeroDivisionError
    async with capacity.slot():
        queued = asyncio.create_task(work())
        await asyncio.sleep(0)
        with pytest.raises(Overloaded):
            await work()
        assert not queued.done()
    queued.cancel()
    await asyncio.wait([queued])


async def test_a_closed_service_finishes_what_waits_and_takes_nothing_new():
    """Accepted requests are done, although the end has begun."""
    capacity, done = Capacity(running=1, queued=5), []

    async def work():
        async with capacity.slot():
            await asyncio.sleep(0)
            done.append(1)

    async with asyncio.TaskGroup() as group:
        for _ in range(3):
            group.create_task(work())
        await asyncio.sleep(0)
        capacity.close()
        with pytest.raises(NotReady, match="stopping"):
            await work()
    assert len(done) == 3
