"""The end of work in the graph when nobody waits for it any more."""

import asyncio
import contextlib
import json

ROWS = 5000


async def items(executor, namespace):
    found, _, _ = await executor.driver.execute_query(
        "MATCH (m:Message {namespace: $namespace}) RETURN count(m) AS items", {"namespace": namespace}
    )
    return found[0]["items"]


async def idle(client):
    while "librarian_http_running 0.0" not in (await client.get("/metrics")).text.splitlines():
        await asyncio.sleep(0.02)


async def test_a_client_that_goes_away_stops_the_writing(client, headers, executor, namespace):
    """Stored rows stay, whole batches only; nothing more is written."""
    body = [{"kind": "message", "uid": f"g{n}", "text": f"text {n}"} for n in range(ROWS)]
    leaving = asyncio.create_task(client.post("/v1/items", json=body, headers=headers))
    while await items(executor, namespace) == 0:
        await asyncio.sleep(0.01)
    leaving.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await leaving
    await idle(client)
    left = await items(executor, namespace)
    assert 0 < left < ROWS
    assert left % 500 == 0
    running, _, _ = await executor.driver.execute_query(
        "SHOW TRANSACTIONS YIELD metaData WHERE metaData.statement = 'store_batch' RETURN count(*) AS running"
    )
    assert running[0]["running"] == 0
    assert 'route="/v1/items",status="499"' in (await client.get("/metrics")).text


async def test_an_upload_may_take_longer_than_a_request(serving, headers):
    """Every stored batch grants the whole time again, so that only a stream that stands still is ended."""

    async def slowly():
        for batch in range(3):
            await asyncio.sleep(3)
            yield b"".join(json.dumps({"kind": "message", "text": f"{batch} {n}"}).encode() + b"\n" for n in range(500))

    ndjson = {**headers, "Content-Type": "application/x-ndjson"}
    async with serving(request_timeout_s=7.0) as client:
        answer = await client.post("/v1/items", content=slowly(), headers=ndjson)
    assert (answer.status_code, answer.json()["added"]) == (200, 1500)
