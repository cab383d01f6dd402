import asyncio
import json

import pytest

from librarian.errors import NotFound
from librarian.http.sse import stream


async def collected(events, beat_s=60.0):
    return [chunk.decode() async for chunk in stream(events, "r1", beat_s)]


async def test_events_are_named_json():
    async def events():
        yield "delta", {"text": "a\nb"}

    assert await collected(events()) == ['event: delta\ndata: {"text":"a\\nb"}\n\n']


async def test_beats_come_while_nothing_else_does():
    async def events():
        await asyncio.sleep(0.2)
        yield "answer", {}

    chunks = await collected(events(), beat_s=0.02)
    assert chunks[0] == ": beat\n\n"
    assert chunks[-1] == "event: answer\ndata: {}\n\n"


@pytest.mark.parametrize(("error", "code"), [(NotFound(), "not_found"), (RuntimeError("secret"), "internal_error")])
async def test_an_error_is_a_last_event_that_tells_what_a_problem_would(error, code):
    async def events():
        yield "hits", {}
        raise error

    name, data = (await collected(events()))[-1].strip().split("\n")
    problem = json.loads(data.removeprefix("data: "))
    assert (name, problem["code"], problem["request_id"]) == ("event: error", code, "r1")
    assert "secret" not in data


async def test_who_stops_reading_cancels_the_work():
    cancelled = asyncio.Event()

    async def events():
        yield "hits", {}
        try:
            await asyncio.sleep(60)
        finally:
            cancelled.set()

    chunks = stream(events(), None, 60.0)
    await anext(chunks)
    await asyncio.sleep(0)
    await chunks.aclose()
    assert cancelled.is_set()
