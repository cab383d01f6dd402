"""`librarian serve` as a process: stopped while it works, killed while it writes."""

import asyncio
import contextlib
import json
import signal
import uuid

import httpx
import pytest

NDJSON = {"Content-Type": "application/x-ndjson"}


def line(uid, text="x"):
    return json.dumps({"kind": "message", "uid": uid, "text": text}).encode() + b"\n"


async def test_it_finishes_what_runs_and_says_on_kept_connections_that_it_stops(start, http, headers):
    """After SIGTERM: new connections are refused, /readyz says stopping, new work gets 503 and a closed connection, the
    running upload is answered whole, and the exit code is 0.
    """
    service = await start()
    await service.ready(http)
    seen = {}
    async with httpx.AsyncClient(trust_env=False, timeout=60, base_url=service.url) as kept:
        assert (await kept.get("/healthz")).status_code == 200

        async def body():
            yield line("before")
            service.process.send_signal(signal.SIGTERM)
            await service.refuses()
            seen["readyz"] = await kept.get("/readyz")
            seen["work"] = await kept.post("/v1/search", json={"queries": ["x"]}, headers=headers)
            yield line("after")

        answer = await http.post(f"{service.url}/v1/items", content=body(), headers={**headers, **NDJSON})
    assert (answer.status_code, answer.json()["added"]) == (200, 2)
    assert (seen["readyz"].status_code, seen["readyz"].json()["phase"]) == (503, "stopping")
    assert (seen["work"].status_code, seen["work"].json()["code"]) == (503, "not_ready")
    assert seen["work"].headers["connection"] == "close"
    assert int(seen["work"].headers["retry-after"]) > 0
    assert await service.ended() == 0


async def test_running_searches_are_answered(start, http, headers):
    """Every search that was sent before SIGTERM gets its answer, also those that wait for a slot."""
    service = await start()
    await service.ready(http)
    searches = [
        asyncio.create_task(http.post(f"{service.url}/v1/search", json={"queries": [f"query {n}"]}, headers=headers))
        for n in range(20)
    ]
    while "librarian_http_running 0.0" in (await http.get(f"{service.url}/metrics")).text.splitlines():
        assert not all(search.done() for search in searches)
    service.process.send_signal(signal.SIGTERM)
    outcomes = await asyncio.gather(*searches, return_exceptions=True)
    assert await service.ended() == 0
    answers = [outcome for outcome in outcomes if isinstance(outcome, httpx.Response)]
    assert answers
    assert {answer.status_code for answer in answers} <= {200, 503}
    # One that had not reached the service yet finds nobody; nobody loses an answer that was begun.
    assert all(isinstance(outcome, httpx.Response | httpx.ConnectError) for outcome in outcomes)


async def test_the_second_signal_ends_it_at_once(start, http, headers):
    """Whoever does not want to wait for an upload without end need not."""
    service = await start()
    await service.ready(http)

    async def endless():
        yield line("first")
        service.process.send_signal(signal.SIGTERM)
        await service.refuses()
        service.process.send_signal(signal.SIGTERM)
        await service.process.wait()

    with contextlib.suppress(httpx.TransportError):
        answer = await http.post(f"{service.url}/v1/items", content=endless(), headers={**headers, **NDJSON})
        assert answer.status_code >= 500
    await service.ended()


async def test_a_request_whose_process_was_killed_can_be_sent_again(start, http, headers, executor, namespace):
    """kill -9 after rows were committed and before the answer was kept: the repetition is told to wait, then stores
    what is missing, once. Who follows the changes goes on at the next process and has seen each once.
    """
    service = await start()
    await service.ready(http)
    told = []
    following = asyncio.create_task(follow(http, service, headers, told))
    body = [{"kind": "message", "uid": f"k{n}", "text": f"text {n}"} for n in range(3000)]
    keyed = {**headers, "Idempotency-Key": uuid.uuid4().hex}
    first = asyncio.create_task(http.post(f"{service.url}/v1/items", json=body, headers=keyed))
    while await stored(executor, namespace) == 0:
        await asyncio.sleep(0.01)
    service.process.kill()
    with pytest.raises(httpx.TransportError):
        await first
    with pytest.raises(httpx.TransportError):
        await following
    await service.ended()
    before = await stored(executor, namespace)
    service = await start()
    await service.ready(http)
    while (answer := await http.post(f"{service.url}/v1/items", json=body, headers=keyed)).status_code == 409:
        await asyncio.sleep(int(answer.headers["retry-after"]))
    report = answer.json()
    assert (answer.status_code, report["failed"]) == (200, 0), answer.text
    assert (report["unchanged"], report["added"]) == (before, 3000 - before)
    assert await stored(executor, namespace) == 3000
    again = await http.post(f"{service.url}/v1/items", json=body, headers=keyed)
    assert (again.headers["idempotency-replayed"], again.content) == ("true", answer.content)
    await follow(http, service, headers, told, until=3000)
    assert [change["seq"] for change in told] == list(range(1, 3001))
    assert {change["uid"] for change in told} == {f"k{n}" for n in range(3000)}


async def follow(http, service, headers, told, until=None):
    """Add what is changed to `told`, from its last on, until it has so many or the service is gone."""
    asked = {**headers, "Accept": "text/event-stream", "Last-Event-ID": told[-1]["cursor"] if told else "0"}
    async with http.stream("GET", f"{service.url}/v1/changes", headers=asked) as stream:
        async for sent in stream.aiter_lines():
            if sent.startswith('data: {"seq"'):
                told.append(json.loads(sent.removeprefix("data: ")))
                if len(told) == until:
                    return
    raise httpx.RemoteProtocolError("the stream has ended")


async def stored(executor, namespace):
    found, _, _ = await executor.driver.execute_query(
        "MATCH (m:Message {namespace: $namespace}) RETURN count(m) AS items", {"namespace": namespace}
    )
    return found[0]["items"]
