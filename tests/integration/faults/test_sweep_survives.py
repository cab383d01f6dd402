"""A sweep whose database is killed while it writes."""

import asyncio
import os
import signal

import pytest

pytestmark = pytest.mark.slow

COUNT = 320


def memory(number):
    return {
        "kind": "memory",
        "uid": f"m{number:04}",
        "text": f"Decision: queue q{number} is drained before ticket OPS-{number} is closed, so that nothing is lost.",
    }


async def test_a_sweep_goes_on_after_its_database_was_killed(
    server, endpoint, graph, serve, http, ready, eventually, headers, namespace
):
    """kill -9 of Neo4j in the middle of applying: the sweep waits or is resumed, ends like an undisturbed one, and does
    nothing twice; its undoing restores every text.
    """
    service = await serve(LIBRARIAN_ENCODER="none")
    await ready(service)
    twin = {**headers, "Librarian-Namespace": f"{namespace}-twin"}
    for each in (headers, twin):
        stored = await http.post(f"{service.url}/v1/items", json=[memory(n) for n in range(COUNT)], headers=each)
        assert stored.status_code == 200, stored.text
    before = await texts(graph, namespace)
    undisturbed = await http.post(f"{service.url}/v1/sweeps", json={}, headers=twin)
    assert undisturbed.status_code == 200, undisturbed.text

    running = asyncio.create_task(http.post(f"{service.url}/v1/sweeps", json={}, headers=headers))
    sweep_id = await begun(graph, namespace, running)
    os.kill(server.status().pid, signal.SIGKILL)
    answers = [await running]  # it outlasts a recovery that is quick enough
    assert answers[0].status_code in {200, 503}, answers[0].text
    await ready(service)

    async def ended():  # as soon as the lease of a run that was cut short is over
        if answers[-1].status_code != 200:
            answers.append(await http.post(f"{service.url}/v1/sweeps", json={"resume": sweep_id}, headers=headers))
        return answers[-1].status_code == 200

    await eventually(ended)
    assert answers[-1].json()["summary"] == undisturbed.json()["summary"]
    assert await texts(graph, namespace) == await texts(graph, f"{namespace}-twin") != before
    assert await revisions(graph, namespace) == await revisions(graph, f"{namespace}-twin")
    undone = await http.post(f"{service.url}/v1/sweeps/{sweep_id}/undo", headers=headers)
    assert undone.status_code == 200, undone.text
    assert await texts(graph, namespace) == before


async def begun(graph, namespace, running):
    """The id of the sweep, once some of its changes are committed."""
    while True:
        found, _, _ = await graph.driver.execute_query(
            "MATCH (:SweepRun {namespace: $namespace})-[c:CHANGED]->() RETURN c.sweep_id AS sweep_id LIMIT 1",
            {"namespace": namespace},
        )
        if found:
            return found[0]["sweep_id"]
        assert not running.done(), running.result().text
        await asyncio.sleep(0.01)


async def texts(graph, namespace):
    """Text, type and tags of every memory."""
    found, _, _ = await graph.driver.execute_query(
        "MATCH (m:Memory {namespace: $namespace}) RETURN m.uid AS uid, m.text AS text, m.type AS type, m.tags AS tags "
        "ORDER BY uid",
        {"namespace": namespace},
    )
    return [record.data() for record in found]


async def revisions(graph, namespace):
    """How many revisions each memory has."""
    found, _, _ = await graph.driver.execute_query(
        "MATCH (m:Memory {namespace: $namespace}) RETURN m.uid AS uid, COUNT { (m)-[:HAS_REVISION]->() } AS revisions "
        "ORDER BY uid",
        {"namespace": namespace},
    )
    return [record.data() for record in found]
