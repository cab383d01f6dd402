"""The key of a request that ends while it is claimed."""

import asyncio

import pytest
from starlette.responses import Response

from graph.idempotency import Claim
from librarian.http.idempotency import answer_once


class Server:
    """Carries out what it was sent, whether or not somebody still waits for it; a claim takes its time."""

    def __init__(self):
        self.claimed = False

    async def write(self, name, _params):
        return await asyncio.shield(asyncio.create_task(self.carry_out(name)))

    async def carry_out(self, name):
        if name == "release_idempotency_key":
            self.claimed = False
            return []
        await asyncio.sleep(0.2)
        self.claimed = True
        return [{"claimed": True, "request_hash": "h", "response": None}]


async def test_a_claim_that_nobody_waits_for_any_more_is_taken_back():
    """It is released after it was granted, not before: otherwise the same request would be told that it still runs."""
    server = Server()

    async def work():
        return Response("done")

    answering = answer_once(server, Claim("n", "k", "owner", "h"), 60, work, request_id="r")
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(answering, 0.05)
    await asyncio.sleep(0.3)
    assert not server.claimed
