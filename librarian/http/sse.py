"""Server-sent events: a stream of values as an answer, with beats while nothing else comes."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing

import msgspec
from starlette.requests import Request
from starlette.responses import StreamingResponse

from librarian.problems import caught, is_known, problem_of

EVENT_STREAM = "text/event-stream"
BEAT_S = 15.0

Event = tuple[str, object]
"""An event's name, and the value that is sent as its JSON."""
Events = AsyncGenerator[Event, None]

BEAT = b": beat\n\n"
HEARTBEAT = b"event: heartbeat\ndata: {}\n\n"
# Proxies must neither keep nor gather what is sent.
_HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "X-Accel-Buffering": "no"}

logger = logging.getLogger("librarian.http")


def wants_events(request: Request) -> bool:
    """Whether the client asks for a stream of events."""
    sent = request.headers.get("accept", "")
    return any(part.partition(";")[0].strip().lower() == EVENT_STREAM for part in sent.split(","))


def event_response(
    events: Events, *, request_id: str | None, beat_s: float = BEAT_S, beat: bytes = BEAT
) -> StreamingResponse:
    """Answer with `events` as they come; what they raise becomes a last event `error`, with a problem as its data.
    `beat` is sent for each `beat_s` seconds in which nothing else comes.

    When the client has gone, whatever `events` awaits is cancelled.
    """
    return StreamingResponse(stream(events, request_id, beat_s, beat), media_type=EVENT_STREAM, headers=_HEADERS)


async def stream(
    events: Events, request_id: str | None, beat_s: float, beat: bytes = BEAT
) -> AsyncGenerator[bytes, None]:
    """The bytes of an event stream."""
    # One task runs all of `events`, so that a beat interrupts nothing in it.
    queue: asyncio.Queue[Event | None] = asyncio.Queue(1)
    work = asyncio.create_task(_fill(queue, events, request_id))
    try:
        while True:
            try:
                event = await asyncio.wait_for(queue.get(), beat_s)
            except TimeoutError:
                yield beat
                continue
            if event is None:
                return
            name, value = event
            yield f"event: {name}\ndata: {msgspec.json.encode(value).decode()}\n\n".encode()
    finally:
        work.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await work


async def _fill(queue: asyncio.Queue[Event | None], events: Events, request_id: str | None) -> None:
    error = await caught(_forward(queue, events))
    if error is not None:
        if not is_known(error):
            logger.error("stream failed", exc_info=error)
        await queue.put(("error", problem_of(error, request_id=request_id)))
    await queue.put(None)


async def _forward(queue: asyncio.Queue[Event | None], events: Events) -> None:
    async with aclosing(events):
        async for event in events:
            await queue.put(event)
