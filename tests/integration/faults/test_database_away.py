"""The managed database is away under load: nothing acknowledged is lost, and whoever asks meanwhile is told in time.

`TEST_DATABASE_AWAY_S` says for how long (6).
"""

import asyncio
import itertools
import os
from collections import Counter
from dataclasses import dataclass, field

import httpx
import pytest

pytestmark = pytest.mark.slow

AWAY_S = float(os.environ.get("TEST_DATABASE_AWAY_S", "6"))
DEADLINE_S = 5
# Beyond the deadline for a machine that is busy. Who waits longer was not told in time.
GRACE_S = 15
CLIENTS = 2


@dataclass
class Load:
    """Clients that write and search for as long as it goes on; a write is repeated until it is acknowledged."""

    http: httpx.AsyncClient
    going_on: bool = True
    away: bool = False
    numbers: itertools.count = field(default_factory=itertools.count)
    acknowledged: dict[str, str] = field(default_factory=dict)
    answers: Counter = field(default_factory=Counter)

    async def ask(self, path, body):
        """One request, counted by what was asked, when, and what was said; True if it was done."""
        before = self.away
        answer = await self.http.post(path, json=body)
        when = "away" if before and self.away else "turning" if before or self.away else "there"
        self.answers[path, when, answer.status_code, "retry-after" in answer.headers] += 1
        await asyncio.sleep(0.05)
        return answer.status_code == 200

    async def write(self):
        while self.going_on:
            uid = f"w{next(self.numbers)}"
            row = {"kind": "memory", "uid": uid, "text": f"The ferry {uid} has left."}
            while not await self.ask("/v1/items", row):
                pass
            self.acknowledged[uid] = row["text"]

    async def search(self):
        while self.going_on:
            await self.ask("/v1/search", {"queries": ["ferry"]})

    def said(self, when):
        """The different (path, status, whether with Retry-After) of one time."""
        return {(path, status, retry) for path, at, status, retry in self.answers if at == when}


async def stored(http):
    """Texts by uid of everything that the namespace holds."""
    texts, cursor = {}, {}
    while True:
        page = (await http.get("/v1/items", params={"limit": 200, **cursor})).json()
        for item in page["items"]:
            assert item["uid"] not in texts
            texts[item["uid"]] = item["text"]
        if page["next_cursor"] is None:
            return texts
        cursor = {"cursor": page["next_cursor"]}


async def test_a_database_that_goes_away_under_load_costs_time_and_nothing_else(
    server, serve, ready, cli, headers, eventually
):
    """While it is stopped every request is a 503 with Retry-After in time; started again, the same
    process is ready by itself, every acknowledged write is there, and what was repeated is there once.
    """
    service = await serve(LIBRARIAN_ENCODER="none", LIBRARIAN_RATE_LIMIT="off")
    await ready(service)
    headers |= {"Request-Timeout-Ms": str(1000 * DEADLINE_S)}
    async with httpx.AsyncClient(
        base_url=service.url, headers=headers, timeout=DEADLINE_S + GRACE_S, trust_env=False
    ) as http:
        load = Load(http)

        async def acknowledged(number):
            async def reached():
                return len(load.acknowledged) >= number

            await eventually(reached)

        clients = [asyncio.create_task(client()) for client in (load.write, load.search) for _ in range(CLIENTS)]
        await acknowledged(20)
        assert (await cli("server", "stop"))[0] == 0
        load.away, until = True, len(load.acknowledged)
        await asyncio.sleep(AWAY_S)
        load.away = False
        assert (await cli("server", "start"))[0] == 0
        await ready(service)
        await acknowledged(until + 20)
        load.going_on = False
        await asyncio.gather(*clients)
        assert load.said("away") == {("/v1/items", 503, True), ("/v1/search", 503, True)}
        # What was on its way when the database went may be tried again until its deadline.
        assert {(status, retry) for _, status, retry in load.said("turning") | load.said("there")} <= {
            (200, False),
            (503, True),
            (504, True),
        }
        assert await stored(http) == load.acknowledged
    assert service.process.returncode is None
