"""A statement that nobody waits for any more ends on the server, and leaves nothing behind."""

import asyncio
import contextlib

import pytest

from cypher.loader import load, parse
from graph.config import GraphConfig
from graph.driver import open_driver
from graph.errors import QueryTimeout
from graph.executor import Executor, deadline

pytestmark = pytest.mark.slow

MADE_UP = """
// name: count_long
// purpose: keeps a core busy for minutes
// params: none
// returns: n
// access: read
// scope: admin
CYPHER 25 UNWIND range(1, 20000000000) AS a WITH a WHERE a % 2 = 3 RETURN count(a) AS n

// name: draw
// purpose: one node
// params: mark
// returns: nothing
// access: write
// scope: admin
CYPHER 25 CREATE (:Drawn {mark: $mark})

// name: drawn
// purpose: how many there are
// params: mark
// returns: n
// access: read
// scope: admin
CYPHER 25 MATCH (n:Drawn {mark: $mark}) RETURN count(n) AS n
"""
RUNNING = (
    "SHOW TRANSACTIONS YIELD metaData, status, currentQuery "
    "WHERE metaData.statement IN $names RETURN count(*) AS running, collect(status) AS statuses"
)


@pytest.fixture
async def small(endpoint):
    """An executor with made-up statements and a pool of one connection: one that is not given back is missed."""
    config = GraphConfig(endpoint.uri, endpoint.username, endpoint.password, max_connections=1)
    driver = open_driver(config)
    executor = Executor(driver, statements={**load(), **parse({"made up": MADE_UP})})
    yield executor
    await executor.aclose()


@pytest.fixture
def running(graph):
    """How many transactions of these names the server lists."""

    async def look(*names):
        found, _, _ = await graph.driver.execute_query(RUNNING, {"names": list(names)})
        return found[0]["running"]

    return look


async def ended(task):
    with contextlib.suppress(asyncio.CancelledError):
        await task


async def test_a_cancelled_statement_ends_on_the_server(small, running, eventually):
    """SHOW TRANSACTIONS lists it until its task is cancelled and not afterwards; its connection can be used again."""
    task = asyncio.create_task(small.fetch_all("count_long"))

    async def runs():
        return await running("count_long") == 1

    async def is_gone():
        return await running("count_long") == 0

    await eventually(runs)
    task.cancel()
    await ended(task)
    assert task.cancelled()
    await eventually(is_gone)
    assert await small.fetch_one("ping") == {"alive": 1}


async def test_a_cancelled_transaction_leaves_nothing(small, graph, running, eventually, namespace):
    """Its writes are rolled back, and the connection can be used again."""
    wrote = asyncio.Event()

    async def work(transaction):
        await transaction.run("draw", {"mark": namespace})
        assert (await transaction.run("drawn", {"mark": namespace}))[0]["n"] == 1
        wrote.set()
        await transaction.run("count_long", {})

    task = asyncio.create_task(small.transaction("half_done", work))
    await wrote.wait()

    async def runs():
        return await running("half_done") == 1

    async def is_gone():
        return await running("half_done") == 0

    await eventually(runs)
    task.cancel()
    await ended(task)
    await eventually(is_gone)
    assert await small.fetch_one("drawn", {"mark": namespace}) == {"n": 0}


async def test_the_server_ends_a_statement_at_the_deadline_of_its_request(small):
    """Even when nobody cancels it: the time that is left is the server's limit."""
    token = deadline.set(asyncio.get_running_loop().time() + 0.5)
    with pytest.raises(QueryTimeout, match="ended by its time limit"):
        await small.fetch_all("count_long")
    with pytest.raises(QueryTimeout, match="the time was up"):  # and nothing begins after it
        await small.fetch_one("ping")
    deadline.reset(token)
    assert await small.fetch_one("ping") == {"alive": 1}
