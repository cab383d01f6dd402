"""Verbs that stream events: sweeping, undoing a sweep, and following changes."""

import asyncio
import itertools
from collections.abc import AsyncGenerator, AsyncIterable
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

import msgspec

from librarian.client import protocol
from librarian.client.errors import ApiError
from librarian.client.verbs import NAMESPACE_HEADER, Reply, Request
from librarian.operations import Method
from librarian.sweep.contracts import (
    SweepChange,
    SweepLlm,
    SweepPart,
    SweepProgress,
    SweepRefusal,
    SweepReport,
    SweepRequest,
    SweepUndoOutput,
)
from librarian.transfer.feed.contracts import ChangeOut, FeedPosition

if TYPE_CHECKING:
    from librarian.client.clients import AsyncLibrarianClient

EVENT_STREAM = "text/event-stream"
_RESUME_S = 0.5
_FOLLOWED: dict[str, type[Any]] = {"change": ChangeOut, "cursor": FeedPosition}
_READING: Request[None] = Request(method="GET", path="/v1/changes", read=lambda _: None)
Event = tuple[str, bytes]


async def sweep_events(
    self: "AsyncLibrarianClient", namespace: str, request: SweepRequest
) -> AsyncGenerator[SweepPart | SweepLlm | SweepReport, None]:
    """Sweep in parts, yielding each once committed, with all of its changes; last comes the report without them.

    With a language model, an estimate of its requests comes first. The request is sent once: after a broken
    connection, `resume` the sweep that the parts name.
    """
    progress, report = SweepProgress(stage="plan", done=0, total=0), None
    async with aclosing(_events(self, namespace, "/v1/sweeps", msgspec.json.encode(request))) as events:
        async for name, data in events:
            match name:
                case "estimate":
                    yield msgspec.json.decode(data, type=SweepLlm)
                case "progress":
                    progress = msgspec.json.decode(data, type=SweepProgress)
                    yield SweepPart(progress)
                case "changes":
                    yield SweepPart(progress, changes=msgspec.json.decode(data, type=list[SweepChange]))
                case "refused":
                    yield SweepPart(progress, refused=msgspec.json.decode(data, type=list[SweepRefusal]))
                case "report":
                    report = data
    yield msgspec.json.decode(_last(self, report), type=SweepReport)


async def undo_events(
    self: "AsyncLibrarianClient", namespace: str, sweep_id: str
) -> AsyncGenerator[SweepProgress | SweepUndoOutput, None]:
    """Undo a sweep, page by page; last comes the outcome. Repeating an interrupted request continues it."""
    undone = None
    async with aclosing(_events(self, namespace, f"/v1/sweeps/{sweep_id}/undo")) as events:
        async for name, data in events:
            if name == "progress":
                yield msgspec.json.decode(data, type=SweepProgress)
            elif name == "undone":
                undone = data
    yield msgspec.json.decode(_last(self, undone), type=SweepUndoOutput)


async def follow_changes(
    self: "AsyncLibrarianClient", namespace: str, after: str | None = None
) -> AsyncGenerator[ChangeOut | FeedPosition, None]:
    """Yield the changes after `after` (None: from now on) without end; first the starting position, if nothing has
    happened yet. Each change comes once and in order: a broken stream is resumed where it stopped.

    Retries while the service is unreachable or busy. Raises ApiError for permanent errors, such as `changes_gone` if
    changes after `after` are no longer kept.
    """
    failures = itertools.count()
    while True:
        params = () if after is None else (("after", after),)
        try:
            async with aclosing(_events(self, namespace, "/v1/changes", method="GET", params=params)) as events:
                async for name, data in events:
                    failures = itertools.count()
                    entry: ChangeOut | FeedPosition = msgspec.json.decode(data, type=_FOLLOWED[name])
                    after = entry.cursor
                    yield entry
            await asyncio.sleep(_RESUME_S)
        except ApiError as error:
            pause = protocol.pause_s(_READING, error, 1)
            if pause is None:
                raise
            await asyncio.sleep(min(pause * 2 ** next(failures), protocol.LONGEST_PAUSE_S))


def _last(client: "AsyncLibrarianClient", data: bytes | None) -> bytes:
    """Return the last event's data after the answer has ended, which is when the service has finished the sweep.

    Raises ServiceUnreachable if the answer ended without it.
    """
    if data is None:
        raise protocol.unreachable(client.url, EOFError("the answer ended too early"))
    return data


async def _events(
    client: "AsyncLibrarianClient",
    namespace: str,
    path: str,
    body: bytes | None = None,
    *,
    method: Method = "POST",
    params: tuple[tuple[str, str], ...] = (),
) -> AsyncGenerator[Event, None]:
    """Send a request and yield the events of its answer. Raises ApiError for any other answer or an event `error`."""
    import httpx

    headers = {"Accept": EVENT_STREAM, "Content-Type": "application/json", NAMESPACE_HEADER: namespace}
    request: Request[None] = Request(
        method=method, path=path, read=lambda _: None, params=params, headers=headers, body=body, safe=False
    )
    try:
        async with client.stream(request) as response:
            if response.headers.get("content-type", "").partition(";")[0] != EVENT_STREAM:
                raise protocol.problem_of(Reply(response.status_code, response.headers, await response.aread()))
            async with aclosing(sent_events(response.aiter_lines())) as events:
                async for name, data in events:
                    if name == "error":
                        raise protocol.problem_in(data)
                    yield name, data
    except httpx.TransportError as error:
        raise protocol.unreachable(client.url, error) from error


async def sent_events(lines: AsyncIterable[str]) -> AsyncGenerator[Event, None]:
    """Yield the name and data of each server-sent event; skip comments, which keep the connection open."""
    name, data = "", list[str]()
    async for line in lines:
        field, _, value = line.partition(":")
        match field:
            case "event":
                name = value.removeprefix(" ")
            case "data":
                data.append(value.removeprefix(" "))
            case "" if not line:
                if data:
                    yield name, "\n".join(data).encode()
                name, data = "", []
