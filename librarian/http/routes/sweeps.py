"""The sweep: what it would change, what it changed, and back."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TypeVar

from starlette.responses import Response

from librarian.contracts.sweeps import SweepLlm, SweepQuery, SweepReport, SweepRequest, SweepUndoOutput
from librarian.http.endpoints import Call
from librarian.http.responses import json_response
from librarian.http.sse import Events, event_response, wants_events
from librarian.usecases.sweep_run import SweepEvents
from librarian.usecases.sweep_undo import UndoEvents

B = TypeVar("B")


async def post_sweep(call: Call[SweepRequest, None]) -> Response:
    """Sweep a namespace: tell memories' types, write their sections, connect causes, propose merges.

    With `dry_run` nothing is changed, and the answer is a plan that can be sent back as `plan`. The answer holds the
    first 1,000 changes. 409 while another sweep works in the namespace. A sweep that was interrupted is taken up by
    `resume`.

    With `Accept: text/event-stream` it comes as server-sent events: with `llm` first `estimate`, what the language
    model will be asked; `progress` with `stage`, `done`, `total` and what to resume; `changes` with every change of a
    part that is done, `refused`, and last `report`, the object below, or `error`.
    """
    if wants_events(call.request):
        events = _sweep_events(call, call.librarian.sweep_events(call.namespace, call.body))
        return event_response(events, request_id=call.request.state.request_id)
    return json_response(await call.librarian.sweep(call.namespace, call.body, call.progressed))


async def list_sweeps(call: Call[None, SweepQuery]) -> Response:
    """List the sweeps of a namespace, the newest first, page by page. Dry runs are not kept."""
    return json_response(await call.librarian.list_sweeps(call.namespace, call.query))


async def get_sweep(call: Call[None, SweepQuery]) -> Response:
    """Get one sweep with a page of its changes, in the order in which they were made."""
    return json_response(await call.librarian.get_sweep(call.namespace, call.path("sweep_id"), call.query))


async def undo_sweep(call: Call[None, None]) -> Response:
    """Take back what a sweep changed: texts, types and tags as they were, its edges gone, its proposals withdrawn.

    What somebody has changed or decided since is kept and reported. An interrupted undo goes on when it is asked for
    again. With `Accept: text/event-stream` it comes as server-sent events: `progress`, and last `undone`, the object
    below, or `error`.
    """
    sweep_id = call.path("sweep_id")
    if wants_events(call.request):
        events = _undo_events(call, call.librarian.undo_events(call.namespace, sweep_id))
        return event_response(events, request_id=call.request.state.request_id)
    return json_response(await call.librarian.undo_sweep(call.namespace, sweep_id, call.progressed))


async def _sweep_events(call: Call[B, None], sweep: SweepEvents) -> Events:
    # The slot that checked the request is free again when this begins.
    async with call.request.state.limits.capacity.slot(), aclosing(sweep) as events:
        async for event in events:
            if isinstance(event, SweepReport):
                yield "report", event
                return
            if isinstance(event, SweepLlm):
                yield "estimate", event
                continue
            call.progressed(event.progress)
            yield "progress", event.progress
            if event.changes:
                yield "changes", event.changes
            if event.refused:
                yield "refused", event.refused


async def _undo_events(call: Call[None, None], undo: UndoEvents) -> AsyncGenerator[tuple[str, object], None]:
    async with call.request.state.limits.capacity.slot(), aclosing(undo) as events:
        async for event in events:
            call.progressed(event)
            yield ("undone" if isinstance(event, SweepUndoOutput) else "progress"), event
