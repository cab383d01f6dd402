"""kill -9 of the database and of the service, and services that share one database."""

import asyncio
import json
import signal

import httpx
import psutil
import pytest

pytestmark = pytest.mark.slow

NDJSON = {"Content-Type": "application/x-ndjson"}
BATCH_ROWS = 500  # librarian.items.ingest: so many rows are one transaction


def rows(first, count):
    return [
        {"kind": "message", "uid": f"m{n:05}", "text": f"row {n}", "conversation_id": f"c{n // 100}"}
        for n in range(first, first + count)
    ]


def ndjson(some):
    return b"".join(json.dumps(row).encode() + b"\n" for row in some)


async def stored(graph, namespace):
    """The uids in the graph, read from the nodes themselves."""
    found, _, _ = await graph.driver.execute_query(
        "MATCH (m:Item {namespace: $namespace}) RETURN m.uid AS uid", {"namespace": namespace}
    )
    return {record["uid"] for record in found}


async def test_two_services_started_at_once_share_one_database(server, serve, http, ready, headers):
    """On a home that nobody uses one of them starts the JVM, migrates and makes the space; either may stop first."""
    await server.stop()
    first, second = await asyncio.gather(serve(), serve())
    await asyncio.gather(ready(first), ready(second))
    assert first.url != second.url
    jvms = [child for child in psutil.Process(server.status().keeper_pid).children() if child.is_running()]
    assert [jvm.pid for jvm in jvms] == [server.status().pid]
    await _the_other_goes_on(first, second, server, http, headers)
    third = await serve()
    await ready(third)
    await _the_other_goes_on(second, third, server, http, headers)
    await server.pin()  # for the tests to come


async def _the_other_goes_on(leaver, stayer, server, http, headers):
    """Items that the one stored before it stopped are found by the other, from the same JVM."""
    pid = server.status().pid
    row = {"kind": "message", "uid": f"by-{leaver.process.pid}", "text": "x"}
    assert (await http.post(f"{leaver.url}/v1/items", json=row, headers=headers)).status_code == 200
    assert await leaver.stop() == 0
    assert (await http.get(f"{stayer.url}/v1/items/{row['uid']}", headers=headers)).status_code == 200
    assert (await http.get(f"{stayer.url}/readyz")).status_code == 200
    assert server.status().pid == pid


async def test_a_killed_database_loses_nothing_that_was_acknowledged(
    server, graph, serve, http, ready, headers, namespace
):
    """kill -9 of Neo4j amid four clients' ingests: each answer is 200, or 503 with Retry-After; all rows of a request
    that got 200 are there, of any other all or none; the service says "recovering" and becomes ready by itself.
    """
    service = await serve()
    await ready(service)
    requests = [rows(start, 20) for start in range(0, 1200, 20)]
    waiting = iter(requests)
    acknowledged, refused = [], []
    killed = asyncio.Event()

    async def client():
        for batch in waiting:
            answer = await http.post(f"{service.url}/v1/items", json=batch, headers=headers)
            if answer.status_code == 200:
                acknowledged.append(batch)
            else:
                refused.append(answer)
            if len(acknowledged) >= len(requests) // 3 and not killed.is_set():
                killed.set()
                psutil.Process(server.status().pid).kill()

    async def watcher():
        await killed.wait()
        return await http.get(f"{service.url}/readyz")

    *_, seen = await asyncio.gather(client(), client(), client(), client(), watcher())
    assert killed.is_set()
    assert (seen.status_code, seen.json()["phase"]) == (503, "recovering")
    assert [answer.text for answer in refused if answer.status_code != 503 or "retry-after" not in answer.headers] == []
    await ready(service)
    there = await stored(graph, namespace)
    assert {row["uid"] for batch in acknowledged for row in batch} <= there
    assert {len(there & {row["uid"] for row in batch}) for batch in requests} <= {0, 20}
    assert service.process.returncode is None


async def test_a_killed_service_leaves_whole_batches(graph, serve, http, ready, headers, namespace):
    """kill -9 of the service amid a stream: each batch of rows is there as a whole or not at all, acknowledged ones
    are; the same stream sent again adds exactly what is missing.
    """
    service = await serve(LIBRARIAN_ENCODER="none")
    await ready(service)
    total = 9 * BATCH_ROWS
    everything = rows(0, total)
    answer = await http.post(f"{service.url}/v1/items", json=everything[:BATCH_ROWS], headers=headers)
    assert answer.status_code == 200

    async def stream():
        yield ndjson(everything[: 4 * BATCH_ROWS])
        while len(await stored(graph, namespace)) < 3 * BATCH_ROWS:
            await asyncio.sleep(0.01)
        for start in range(4 * BATCH_ROWS, total, 50):
            yield ndjson(everything[start : start + 50])
            if start == 6 * BATCH_ROWS:
                service.process.send_signal(signal.SIGKILL)

    with pytest.raises(httpx.TransportError):
        await http.post(f"{service.url}/v1/items", content=stream(), headers={**headers, **NDJSON})
    await service.process.wait()
    again = await serve(LIBRARIAN_ENCODER="none")
    await ready(again)
    there = await stored(graph, namespace)
    batches = [{row["uid"] for row in everything[n : n + BATCH_ROWS]} for n in range(0, total, BATCH_ROWS)]
    assert {len(there & batch) for batch in batches} == {0, BATCH_ROWS}
    assert batches[0] <= there
    answer = await http.post(f"{again.url}/v1/items", content=ndjson(everything), headers={**headers, **NDJSON})
    report = answer.json()
    assert (answer.status_code, report["failed"], report["updated"]) == (200, 0, 0)
    assert (report["unchanged"], report["added"]) == (len(there), total - len(there))
    assert len(await stored(graph, namespace)) == total
