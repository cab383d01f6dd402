"""Work on a database that nobody will start again for it."""

import asyncio

import pytest

from graph.errors import DatabaseUnavailable
from graph.executor import Executor


class Silent:
    """A driver that gets no answer, and tries again for ever."""

    def __init__(self):
        self.asked = asyncio.Event()

    async def execute_query(self, *_args, **_options):
        self.asked.set()
        await asyncio.Event().wait()


async def test_what_is_in_flight_ends_when_the_database_is_given_up():
    """At once, as unavailable; what comes later is tried anew, and a cancelled task stays cancelled."""
    driver = Silent()
    executor = Executor(driver)
    working = asyncio.create_task(executor.fetch_one("ping"))
    await driver.asked.wait()
    executor.give_up()
    with pytest.raises(DatabaseUnavailable):
        await working
    again = asyncio.create_task(executor.fetch_one("ping"))
    await asyncio.sleep(0.01)
    assert not again.done()
    again.cancel()
    with pytest.raises(asyncio.CancelledError):
        await again
    executor.give_up()
