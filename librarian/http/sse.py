"""Server-sent events: a stream of values as an answer, with heartbeats that keep the connection open."""

import logging
import math
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing

import msgspec
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.requests import Request

from librarian.base.problems import caught, is_known, problem_of

EVENT_STREAM = "text/event-stream"
BEAT_S = 15.0

Event = tuple[str, object] | tuple[str, object, str]
"""An event's name, its value (sent as JSON), and its id, from which a client can resume."""
Events = AsyncGenerator[Event, None]

_LINE_END = "\n"
BEAT = ServerSentEvent(comment="beat", sep=_LINE_END)
HEARTBEAT = ServerSentEvent(event="heartbeat", data="{}", sep=_LINE_END)

logger = logging.getLogger("librarian.http")


def wants_events(request: Request) -> bool:
    """Return whether the client asks for a stream of events."""
    sent = request.headers.get("accept", "")
    return any(part.partition(";")[0].strip().lower() == EVENT_STREAM for part in sent.split(","))


def event_response(
    events: Events, *, request_id: str | None, beat_s: float = BEAT_S, beat: ServerSentEvent = BEAT
) -> EventSourceResponse:
    """Answer with `events` as they come, and a `beat` every `beat_s` seconds; an exception of `events` becomes a final
    event `error`, with a problem as its data.

    When the client has gone, whatever `events` awaits is cancelled.
    """
    return EventSourceResponse(
        _encoded(events, request_id),
        headers={"X-Content-Type-Options": "nosniff"},
        sep=_LINE_END,
        ping=beat_s,
        ping_message_factory=lambda: beat,
        # The server waits for streams as for any request, and ends those that outlast its drain limit.
        shutdown_grace_period=math.inf,
    )


async def _encoded(events: Events, request_id: str | None) -> AsyncIterator[ServerSentEvent]:
    latest: list[Event | None] = []

    async def advance() -> None:
        latest[:] = [await anext(events, None)]

    async with aclosing(events):
        while (error := await caught(advance())) is None and latest[0] is not None:
            yield _event(*latest[0])
    if error is not None:
        if not is_known(error):
            logger.error("stream failed", exc_info=error)
        yield _event("error", problem_of(error, request_id=request_id))


def _event(name: str, value: object, event_id: str | None = None) -> ServerSentEvent:
    return ServerSentEvent(event=name, data=msgspec.json.encode(value).decode(), id=event_id, sep=_LINE_END)
