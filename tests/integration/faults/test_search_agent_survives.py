"""The search agent needs its Professor alone: what kills the database does not touch it."""

import asyncio
import os
import signal
import socket
import sys
from pathlib import Path

import httpx
import pytest

pytestmark = pytest.mark.slow

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "professor" / "professor.py"
ASKED = {
    "user_query": "決定係数の計算式を教えて",
    "analyzed_info": {},
    "task": {"target_items": ["formula"], "max_retries": 1},
    "stop_conditions": "",
}


@pytest.fixture
async def professor(http, eventually):
    """The example Professor as a program; gives its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = await asyncio.create_subprocess_exec(sys.executable, EXAMPLE, "--port", str(port))
    url = f"http://127.0.0.1:{port}/search"

    async def answers():
        try:
            return (await http.post(url, json={})).status_code == 400
        except httpx.TransportError:
            return False

    try:
        await eventually(answers)
        yield url
    finally:
        process.terminate()
        await process.wait()


async def test_a_killed_database_is_nothing_to_the_search_agent(
    server, endpoint, serve, http, ready, eventually, headers, professor
):
    """kill -9 of Neo4j and its keeper: a search is a 503, the search agent's answer a 200 as before."""
    service = await serve(PROFESSOR_SEARCH_URL=professor)
    await ready(service)
    before = await http.post(f"{service.url}/v1/librarian/search-agent", json=ASKED, headers=headers)
    status = server.status()
    os.kill(status.keeper_pid, signal.SIGKILL)
    os.kill(status.pid, signal.SIGKILL)

    async def lost():
        return (await http.get(f"{service.url}/readyz")).status_code == 503

    await eventually(lost)
    after = await http.post(f"{service.url}/v1/librarian/search-agent", json=ASKED, headers=headers)
    assert (before.status_code, after.status_code) == (200, 200)
    assert after.json() == before.json()
    assert after.json()["status"] == "COMPLETED"
