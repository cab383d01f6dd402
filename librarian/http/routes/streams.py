"""Handlers that may answer with server-sent events: answers, the search agent, sweeps, undoing them, changes.

The slot that checked a request is released when its events begin; they take one of their own, except streams of
changes, which mostly wait and are limited per key.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Any, get_args

import msgspec
from starlette.responses import Response

from librarian.agent.contracts import Detail, SearchAgentInput
from librarian.agent.professor import Origin
from librarian.base.errors import InvalidInput, Unauthenticated
from librarian.base.keys import KeyFile
from librarian.http.auth import namespace_of
from librarian.http.endpoints import Call
from librarian.http.limits import Limits
from librarian.http.responses import json_response
from librarian.http.sse import HEARTBEAT, Events, event_response, wants_events
from librarian.search.contracts import AnswerDelta, AnswerHits, AnswerInput, AnswerOutput, RelevantOutput
from librarian.sweep.contracts import SweepLlm, SweepReport, SweepRequest, SweepUndoOutput
from librarian.sweep.run import SweepEvents
from librarian.sweep.undo import UndoEvents
from librarian.transfer.feed.contracts import ChangeList, ChangeQuery, FeedPosition

DETAIL_HEADER = "Librarian-Detail"
LAST_EVENT_HEADER = "Last-Event-ID"
_ANSWER_EVENTS: dict[type[Any], str] = {AnswerHits: "hits", AnswerDelta: "delta", AnswerOutput: "answer"}


async def answer(call: Call[AnswerInput, None]) -> Response:
    """Answer a question, whole or as it is written."""
    found = await call.librarian.search.evidence(call.namespace, call.body)
    if wants_events(call.request):
        return event_response(_answer_events(call, found), request_id=call.request.state.request_id)
    return json_response(await call.librarian.search.answer_from(found))


async def _answer_events(call: Call[AnswerInput, None], found: RelevantOutput) -> Events:
    async with (
        call.request.state.limits.capacity.slot(),
        aclosing(call.librarian.search.answer_events(found)) as events,
    ):
        async for event in events:
            yield _ANSWER_EVENTS[type(event)], event


async def search_agent(call: Call[SearchAgentInput, None]) -> Response:
    """Find evidence, whole or step by step."""
    detail, origin, namespace = _detail(call), _origin(call), _searched_namespace(call)
    if wants_events(call.request):
        events = _agent_events(call, namespace, detail, origin)
        return event_response(events, request_id=origin.request_id, beat=HEARTBEAT)
    return json_response(await call.librarian.agent(namespace, call.body, detail=detail, origin=origin))


async def _agent_events(call: Call[SearchAgentInput, None], namespace: str, detail: Detail, origin: Origin) -> Events:
    steps = call.librarian.agent.events(namespace, call.body, detail=detail, origin=origin)
    async with call.request.state.limits.agents.slot(), aclosing(steps) as events:
        async for event in events:
            yield event.event, event.data


def _detail(call: Call[SearchAgentInput, None]) -> Detail:
    sent = call.request.headers.get(DETAIL_HEADER, "default").strip().lower()
    for detail in get_args(Detail):
        if sent == detail:
            found: Detail = detail
            return found
    raise InvalidInput(f"it must be one of {', '.join(get_args(Detail))}", field=DETAIL_HEADER)


def _origin(call: Call[SearchAgentInput, None]) -> Origin:
    return Origin(call.request.state.request_id, call.request.headers.get("traceparent"))


def _searched_namespace(call: Call[SearchAgentInput, None]) -> str:
    """Return the namespace to search; empty if the Professor searches."""
    if call.key is None or call.librarian.agent.asks_professor:
        return ""
    return namespace_of(call.request, call.key)


async def sweep(call: Call[SweepRequest, None]) -> Response:
    """Sweep a namespace, and report once at the end or after each part."""
    if wants_events(call.request):
        events = _sweep_events(call, call.librarian.sweeps.sweep_events(call.namespace, call.body))
        return event_response(events, request_id=call.request.state.request_id)
    return json_response(await call.librarian.sweeps.sweep(call.namespace, call.body, call.progressed))


async def undo_sweep(call: Call[None, None]) -> Response:
    """Undo a sweep, and report at the end or page by page."""
    sweep_id = call.path("sweep_id")
    if wants_events(call.request):
        events = _undo_events(call, call.librarian.sweeps.undo_events(call.namespace, sweep_id))
        return event_response(events, request_id=call.request.state.request_id)
    return json_response(await call.librarian.sweeps.undo_sweep(call.namespace, sweep_id, call.progressed))


async def _sweep_events(call: Call[SweepRequest, None], sweep: SweepEvents) -> Events:
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


async def _undo_events(call: Call[None, None], undo: UndoEvents) -> Events:
    async with call.request.state.limits.capacity.slot(), aclosing(undo) as events:
        async for event in events:
            call.progressed(event)
            yield ("undone" if isinstance(event, SweepUndoOutput) else "progress"), event


async def changes(call: Call[None, ChangeQuery]) -> Response:
    """Read a page of the change feed, or follow it."""
    query = _resumed(call)
    if not wants_events(call.request):
        return json_response(await call.librarian.feed.changes(call.namespace, query))
    call.request.state.limits.check_following(_key_id(call))
    pages = call.librarian.feed.follow_changes(call.namespace, query.after)
    first = await anext(pages)  # an invalid cursor is answered before the stream starts
    return event_response(_change_events(call, first, pages), request_id=call.request.state.request_id)


def _resumed(call: Call[None, ChangeQuery]) -> ChangeQuery:
    """Return the query, starting after the last event that the client names."""
    sent = call.request.headers.get(LAST_EVENT_HEADER)
    if not sent:
        return call.query
    try:
        return msgspec.convert({"after": sent, "limit": call.query.limit}, ChangeQuery)
    except msgspec.ValidationError:
        raise InvalidInput("invalid change feed cursor", field=LAST_EVENT_HEADER) from None


async def _change_events(
    call: Call[None, ChangeQuery], page: ChangeList, pages: AsyncGenerator[ChangeList, None]
) -> Events:
    limits: Limits = call.request.state.limits
    with limits.following(_key_id(call)):
        async with aclosing(pages):
            if not page.changes:
                yield "cursor", FeedPosition(cursor=page.cursor), page.cursor
            while not limits.capacity.closed:
                for change in page.changes:
                    yield "change", change, change.cursor
                call.progressed()
                _still_admitted(call)
                page = await anext(pages)


def _key_id(call: Call[Any, Any]) -> str:
    return "" if call.key is None else call.key.id


def _still_admitted(call: Call[None, ChangeQuery]) -> None:
    """Raise Unauthenticated once the key of a stream no longer opens its namespace."""
    keys: KeyFile = call.request.state.keys
    now = datetime.now(UTC)
    for key in keys.list():
        same = call.key is not None and key.id == call.key.id and key.sha256 == call.key.sha256
        if same and key.is_valid_at(now) and key.has_scope("read") and key.allows(call.namespace):
            return
    raise Unauthenticated("This API key was revoked or has expired.")
