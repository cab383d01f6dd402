"""Sweeps over HTTP: scope, answers, events and refusals."""

import contextlib
import json

import httpx
import pytest

from graph.leases import leased
from librarian.base.keys import KeyFile
from librarian.base.settings.values import Rate
from librarian.sweep.run import lease_name

EVENTS = {"Accept": "text/event-stream"}


@pytest.fixture
async def calling(serve_app, librarian, namespace, tmp_path):
    """Makes clients with a key of some scopes."""
    keys = KeyFile(tmp_path / "keys.json")
    async with contextlib.AsyncExitStack() as stack:
        url = await stack.enter_async_context(serve_app(librarian, keys, rate_limit=Rate(0, 1.0)))

        async def make(*scopes):
            secret = keys.create("t", namespaces=[namespace], scopes=scopes)[1]
            headers = {"Authorization": f"Bearer {secret}"}
            client = httpx.AsyncClient(base_url=url, trust_env=False, timeout=60, headers=headers)
            return await stack.enter_async_context(client)

        yield make


def events_of(answer):
    """(name, data) of each event."""
    blocks = [block for block in answer.text.split("\n\n") if block.startswith("event:")]
    return [(block.split("\n")[0][7:], json.loads(block.split("\n")[1][6:])) for block in blocks]


async def test_a_sweep_from_plan_to_undo(calling, memories, stored):
    """The plan of a dry run can be sent back, is applied, listed and read, and taken back."""
    client = await calling("sweep")
    before = await stored()
    plan = (await client.post("/v1/sweeps", json={"dry_run": True})).json()
    assert plan["dry_run"]
    assert await stored() == before
    done = (await client.post("/v1/sweeps", json={"plan": plan})).json()
    assert done["summary"] == plan["summary"]
    assert (done["dry_run"], done["status"]) == (False, "applied")
    listed = (await client.get("/v1/sweeps")).json()["sweeps"]
    assert [one["sweep_id"] for one in listed] == [done["sweep_id"]]
    page = (await client.get(f"/v1/sweeps/{done['sweep_id']}", params={"limit": 2})).json()
    assert len(page["changes"]) == 2
    assert page["next_cursor"]
    undone = (await client.post(f"/v1/sweeps/{done['sweep_id']}/undo")).json()
    assert undone["status"] == "undone"
    assert await stored() == before


async def test_progress_comes_as_events(calling, memories):
    """Progress with what to resume, the changes as they are committed, and last the report without them."""
    client = await calling("sweep")
    told = events_of(await client.post("/v1/sweeps", json={}, headers=EVENTS))
    names = [name for name, _ in told]
    assert names[-1] == "report"
    assert {"progress", "changes"} <= set(names)
    report = told[-1][1]
    assert report["changes"] == []
    progress = [data for name, data in told if name == "progress"]
    assert {one["sweep_id"] for one in progress} == {report["sweep_id"]}
    assert progress[-1]["done"] == progress[-1]["total"] == len(memories)
    undone = events_of(await client.post(f"/v1/sweeps/{report['sweep_id']}/undo", headers=EVENTS))
    assert [name for name, _ in undone][-1] == "undone"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"limit": 0}, "$.limit"),
        ({"min_importance": 11}, "$.min_importance"),
        ({"domains": ["nowhere"]}, "$.domains"),
        ({"domains": []}, "$.domains"),
        ({"llm": True}, "$.llm"),
        ({"resume": "sweep-1"}, "$.resume"),
        ({"filters": {"kinds": ["fact"]}}, "$.filters.kinds"),
    ],
)
async def test_what_cannot_be_meant_is_refused(calling, memories, stored, body, field):
    """With the field that is wrong, and nothing changed."""
    before = await stored()
    answer = await (await calling("sweep")).post("/v1/sweeps", json=body)
    assert (answer.status_code, answer.json()["field"]) == (400, field)
    assert await stored() == before


async def test_a_second_sweep_is_refused_with_who_is_at_it(calling, memories, executor, namespace):
    """409 with the holder's name, and when to come again."""
    client = await calling("sweep")
    async with leased(executor, lease_name(namespace), "ada on harbor (process 7)"):
        answer = await client.post("/v1/sweeps", json={})
    assert (answer.status_code, answer.json()["code"]) == (409, "lease_held")
    assert "ada on harbor" in answer.json()["detail"]
    assert "Retry-After" in answer.headers


async def test_what_is_not_there_is_not_found(calling):
    """A sweep that never was, read, resumed or undone."""
    client = await calling("sweep")
    assert (await client.get("/v1/sweeps/sweep-20200101-001")).status_code == 404
    assert (await client.post("/v1/sweeps/sweep-20200101-001/undo")).status_code == 404
    assert (await client.post("/v1/sweeps", json={"resume": "sweep-20200101-001"})).status_code == 404
