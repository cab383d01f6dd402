"""`librarian serve` by several processes (LIBRARIAN_WORKERS)."""

import asyncio
import signal
import time

import httpx
import psutil
import pytest

SEARCH = {"queries": ["x"], "limit": 1}


@pytest.fixture
async def service(start, http):
    """Two workers that let each key ask five times an hour."""
    service = await start(LIBRARIAN_WORKERS="2", LIBRARIAN_RATE_LIMIT="5/hour")
    await every_worker_is_ready(service, http)
    return service


async def every_worker_is_ready(service, http):
    async with asyncio.timeout(120):
        while (
            "librarian_ready 1.0" not in (await http.get(f"{service.url}/metrics")).text.splitlines()
            or len(workers(service)) < 2
        ):
            await asyncio.sleep(0.2)


def workers(service):
    """The processes that serve."""
    return [
        process
        for process in psutil.Process(service.process.pid).children()
        if process.status() != psutil.STATUS_ZOMBIE and "--worker" in process.cmdline()
    ]


async def searches_counted(service, http):
    return sum(
        float(line.rsplit(" ", 1)[1])
        for line in (await http.get(f"{service.url}/metrics")).text.splitlines()
        if line.startswith("librarian_http_requests_total{") and 'route="/v1/search"' in line
    )


async def once(url, **request):
    """Ask over a connection of its own: any worker may answer."""
    async with httpx.AsyncClient(trust_env=False, timeout=60) as client:
        return await client.request(url=url, **request)


async def gone(processes):
    async with asyncio.timeout(60):
        while any(process.is_running() and process.status() != psutil.STATUS_ZOMBIE for process in processes):
            await asyncio.sleep(0.1)


async def test_a_key_has_one_rate_with_all_workers_and_metrics_are_those_of_all(service, http, headers):
    """Of twelve searches at once, each over a connection of its own, five are answered; /metrics counts all twelve."""
    answers = await asyncio.gather(
        *(once(f"{service.url}/v1/search", method="POST", json=SEARCH, headers=headers) for _ in range(12))
    )
    assert sorted(answer.status_code for answer in answers) == [200] * 5 + [429] * 7
    async with asyncio.timeout(10):
        while await searches_counted(service, http) != 12:  # an answer is counted once it was sent
            await asyncio.sleep(0.05)


async def test_a_killed_worker_comes_back_while_the_other_answers(service, http):
    """After kill -9 of one, requests are answered, and soon there are two again. (One that ends within its first ten
    seconds would end all.)
    """
    first = workers(service)
    await asyncio.sleep(max(0.0, first[0].create_time() + 11 - time.time()))
    first[0].kill()
    await gone(first[:1])
    assert (await once(f"{service.url}/healthz", method="GET")).status_code == 200
    await every_worker_is_ready(service, http)
    assert first[1] in workers(service)
    assert first[0] not in workers(service)


async def test_sigterm_ends_all_with_exit_code_0(service):
    """None of the workers outlives the service."""
    serving = workers(service)
    service.process.send_signal(signal.SIGTERM)
    assert await service.ended() == 0
    await gone(serving)


async def test_workers_end_when_the_process_that_watches_them_is_killed(service):
    """Nobody is left behind to hold the port."""
    serving = workers(service)
    service.process.kill()
    await service.process.wait()
    await gone(serving)


async def test_a_worker_that_ends_at_once_ends_all(start):
    """A worker that fails at once would fail again: the service says so by its exit code."""
    service = await start(LIBRARIAN_WORKERS="2")
    async with asyncio.timeout(60):
        while len(workers(service)) < 2:
            await asyncio.sleep(0.05)
    workers(service)[0].kill()
    assert await service.ended() != 0
