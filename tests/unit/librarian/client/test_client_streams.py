"""Answers of events: what a client makes of them, and of answers that are none or end early."""

import httpx
import pytest

from librarian.client import ApiError, AsyncLibrarianClient, ServiceUnreachable
from librarian.client.streams import sent_events
from librarian.sweep.contracts import SweepPart, SweepProgress, SweepRequest, SweepUndoOutput

URL = "http://127.0.0.1:1"
PROGRESS = 'event: progress\ndata: {"stage": "undo", "done": 1, "total": 2}\n\n'
UNDONE = 'event: undone\ndata: {"sweep_id": "sweep-20260101-001", "status": "undone"}\n\n'
PROBLEM = '{"title": "Conflict", "status": 409, "detail": "a lease is held", "code": "lease_held"}'


def answering(text, *, status=200, kind="text/event-stream"):
    """A client whose service answers so."""
    client = AsyncLibrarianClient(URL, "lib_x")
    answer = httpx.Response(status, text=text, headers={"content-type": kind})
    client.__dict__["_http"] = httpx.AsyncClient(transport=httpx.MockTransport(lambda _: answer), base_url=URL)
    return client


async def undone(client):
    return [event async for event in client.undo_events("a", "sweep-20260101-001")]


async def test_events_come_with_their_names_and_comments_are_left_out():
    async def lines():
        for line in (": beat", "", "event: a", "data: 1", "data: 2", "", "event:b", "data:{}", "", "event: c", ""):
            yield line

    assert [event async for event in sent_events(lines())] == [("a", b"1\n2"), ("b", b"{}")]


async def test_progress_comes_before_the_outcome():
    progress, outcome = await undone(answering(": beat\n\n" + PROGRESS + UNDONE))
    assert (progress, type(outcome)) == (SweepProgress(stage="undo", done=1, total=2), SweepUndoOutput)


async def test_changes_of_a_sweep_come_with_its_progress():
    change = '{"memory_id": "m", "action": "flag", "version": 1}'
    client = answering(f"{PROGRESS}event: changes\ndata: [{change}]\n\nevent: error\ndata: {PROBLEM}\n\n")
    events = client.sweep_events("a", SweepRequest())
    first, second = await anext(events), await anext(events)
    assert first == SweepPart(SweepProgress(stage="undo", done=1, total=2))
    assert (second.progress, [found.memory_id for found in second.changes]) == (first.progress, ["m"])
    with pytest.raises(ApiError, match="a lease is held"):
        await anext(events)


async def test_a_problem_is_raised_whether_it_is_the_answer_or_an_event():
    for client in (
        answering(PROBLEM, status=409, kind="application/problem+json"),
        answering(f"{PROGRESS}event: error\ndata: {PROBLEM}\n\n"),
    ):
        with pytest.raises(ApiError) as raised:
            await undone(client)
        assert (raised.value.status, raised.value.code) == (409, "lease_held")


async def test_an_answer_that_ends_early_is_no_success():
    with pytest.raises(ServiceUnreachable, match="ended too early"):
        await undone(answering(PROGRESS))
