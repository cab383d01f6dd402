"""The search agent, whole or step by step."""

from contextlib import aclosing
from typing import get_args

from starlette.responses import Response

from librarian.contracts.search_agent import Detail, SearchAgentInput
from librarian.errors import InvalidInput
from librarian.http.auth import namespace_of
from librarian.http.endpoints import Call
from librarian.http.responses import json_response
from librarian.http.sse import HEARTBEAT, Events, event_response, wants_events
from librarian.professor.search import Origin

DETAIL_HEADER = "Librarian-Detail"


async def search_agent(call: Call[SearchAgentInput, None]) -> Response:
    """Find the smallest set of evidence that covers what is asked; never an answer.

    The search is the Professor's, where one is configured: no namespace is needed then. Otherwise it is Librarian's own
    over the namespace. `max_retries` bounds how often the search is refined; when the request's time is up, the best so
    far is answered.

    With `Accept: text/event-stream` it comes as server-sent events: `plan`, `search`, `candidates`, `evaluation`,
    `refine`, last `done` with the object below, or `error`, a problem; and `heartbeat` while nothing else comes.
    """
    detail, origin, namespace = _detail(call), _origin(call), _namespace(call)
    if wants_events(call.request):
        events = _events(call, namespace, detail, origin)
        return event_response(events, request_id=origin.request_id, beat=HEARTBEAT)
    return json_response(await call.librarian.search_agent(namespace, call.body, detail=detail, origin=origin))


async def _events(call: Call[SearchAgentInput, None], namespace: str, detail: Detail, origin: Origin) -> Events:
    # The slot that checked the request is free again when this begins.
    async with (
        call.request.state.limits.agents.slot(),
        aclosing(call.librarian.search_agent_events(namespace, call.body, detail=detail, origin=origin)) as events,
    ):
        async for event in events:
            yield event.event, event.data


def _detail(call: Call[SearchAgentInput, None]) -> Detail:
    sent = call.request.headers.get(DETAIL_HEADER, "default").strip().lower()
    for known in get_args(Detail):
        if sent == known:
            found: Detail = known
            return found
    raise InvalidInput(f"it must be one of {', '.join(get_args(Detail))}", field=DETAIL_HEADER)


def _origin(call: Call[SearchAgentInput, None]) -> Origin:
    return Origin(call.request.state.request_id, call.request.headers.get("traceparent"))


def _namespace(call: Call[SearchAgentInput, None]) -> str:
    """The namespace that is searched; none where the Professor searches."""
    if call.key is None or call.librarian.asks_professor:
        return ""
    return namespace_of(call.request, call.key)
