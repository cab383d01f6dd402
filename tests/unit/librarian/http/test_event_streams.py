"""Streams of server-sent events, as an ASGI server sends them."""

import asyncio
import json

import pytest
from sse_starlette.sse import AppStatus

from librarian.base.errors import NotFound
from librarian.http.sse import HEARTBEAT, event_response

SCOPE = {"type": "http", "method": "POST", "path": "/", "headers": []}


async def sent(events, gone=None, **options):
    """Messages of the whole answer; the client leaves when `gone` is set."""
    messages = []

    async def receive():
        await (gone or asyncio.Event()).wait()
        return {"type": "http.disconnect"}

    async def send(message):
        messages.append(message)

    await event_response(events, request_id="r1", **options)(SCOPE, receive, send)
    return messages


async def chunks(events, **options):
    return [message["body"].decode() for message in (await sent(events, **options))[1:] if message["body"]]


async def test_events_are_named_json():
    async def events():
        yield "delta", {"text": "a\nb\u2028日本"}

    assert await chunks(events()) == ['event: delta\ndata: {"text":"a\\nb\u2028日本"}\n\n']


async def test_no_proxy_keeps_or_gathers_what_is_sent():
    async def events():
        yield "done", {}

    headers = dict((await sent(events()))[0]["headers"])
    assert headers[b"content-type"] == b"text/event-stream; charset=utf-8"
    assert headers[b"cache-control"] == b"no-store"
    assert headers[b"x-accel-buffering"] == b"no"
    assert headers[b"x-content-type-options"] == b"nosniff"


@pytest.mark.parametrize(
    ("options", "beat"), [({}, ": beat\n\n"), ({"beat": HEARTBEAT}, "event: heartbeat\ndata: {}\n\n")]
)
async def test_beats_come_while_nothing_else_does(options, beat):
    async def events():
        await asyncio.sleep(0.2)
        yield "answer", {}

    received = await chunks(events(), beat_s=0.02, **options)
    assert received[0] == beat
    assert [chunk for chunk in received if chunk != beat] == ["event: answer\ndata: {}\n\n"]


@pytest.mark.parametrize(("error", "code"), [(NotFound(), "not_found"), (RuntimeError("secret"), "internal_error")])
async def test_an_error_is_a_last_event_that_tells_what_a_problem_would(error, code):
    async def events():
        yield "hits", {}
        raise error

    name, data = (await chunks(events()))[-1].strip().split("\n")
    problem = json.loads(data.removeprefix("data: "))
    assert (name, problem["code"], problem["request_id"]) == ("event: error", code, "r1")
    assert "secret" not in data


async def test_who_leaves_cancels_the_work():
    gone, cancelled = asyncio.Event(), asyncio.Event()

    async def events():
        yield "hits", {}
        gone.set()
        try:
            await asyncio.sleep(60)
        finally:
            cancelled.set()

    async with asyncio.timeout(10):
        await sent(events(), gone)
    assert cancelled.is_set()


async def test_a_server_that_stops_lets_a_stream_finish(monkeypatch):
    monkeypatch.setattr(AppStatus, "should_exit", True)

    async def events():
        await asyncio.sleep(0.2)
        yield "answer", {}

    assert await chunks(events()) == ["event: answer\ndata: {}\n\n"]
