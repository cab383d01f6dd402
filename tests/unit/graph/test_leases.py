import asyncio

import pytest

from graph.leases import leased


class SlowGraph:
    """Takes and releases locks, the latter only after a while."""

    def __init__(self):
        self.held = set()

    async def write(self, statement, params):
        if statement == "take_lock":
            self.held.add(params["name"])
            return [{"taken": True}]
        await asyncio.sleep(0.02)
        self.held.discard(params["name"])
        return [{}]


async def test_a_lease_is_given_back_although_its_holder_is_cancelled_meanwhile():
    """A client that leaves right after the last event cancels the request while the lease is being released, and the
    driver may be closed as soon as the cancelled task is over.
    """
    graph = SlowGraph()
    leaving = asyncio.Event()

    async def work():
        async with leased(graph, "sweep of x", "ada"):
            leaving.set()

    task = asyncio.create_task(work())
    await leaving.wait()
    await asyncio.sleep(0.01)
    assert graph.held == {"sweep of x"}
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert graph.held == set()
