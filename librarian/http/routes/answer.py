"""Answers with citations, whole or as they are written."""

from contextlib import aclosing

from starlette.responses import Response

from librarian.contracts.answer import AnswerDelta, AnswerHits, AnswerInput, AnswerOutput
from librarian.contracts.relevant import RelevantOutput
from librarian.http.endpoints import Call
from librarian.http.responses import json_response
from librarian.http.sse import Events, event_response, wants_events

_NAMES = {AnswerHits: "hits", AnswerDelta: "delta", AnswerOutput: "answer"}


async def answer(call: Call[AnswerInput, None]) -> Response:
    """Answer a question out of what is kept, with citations.

    The text carries `[memory: ID]`, each checked against the hits. Without a language model, or when it fails, the
    answer quotes the hits (`method` is `extractive`); where they support none, `status` is `refused`.

    With `Accept: text/event-stream` it comes as server-sent events: `hits`, `delta` (`{"text": …}`) for each piece,
    and last `answer`, the same object as below, which alone counts, or `error`, a problem.
    """
    found = await call.librarian.evidence(call.namespace, call.body)
    if wants_events(call.request):
        return event_response(_events(call, found), request_id=call.request.state.request_id)
    return json_response(await call.librarian.answer_from(found))


async def _events(call: Call[AnswerInput, None], found: RelevantOutput) -> Events:
    # The slot that searched is free again when this begins.
    async with call.request.state.limits.capacity.slot(), aclosing(call.librarian.answer_events(found)) as events:
        async for event in events:
            yield _NAMES[type(event)], event
