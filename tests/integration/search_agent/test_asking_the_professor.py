"""The requests that the Professor gets, and the end of the work when nobody waits for it any more."""

import asyncio
import contextlib
import json

from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from starlette.responses import Response

from librarian.base import tracing

PATH = "/v1/librarian/search-agent"
EVENTS = {"Accept": "text/event-stream"}
TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def events_of(text):
    """(name, data) of each event of a stream."""
    blocks = [block.split("\n") for block in text.strip().split("\n\n")]
    return [(lines[0].removeprefix("event: "), json.loads(lines[1].removeprefix("data: "))) for lines in blocks]


async def test_a_search_is_sent_with_three_fields(client, professor, asked):
    """Never how many are wanted; counted from 1 through one request_id, which no other request has."""
    for _ in range(2):
        assert (await client.post(PATH, json=asked)).status_code == 200
    assert all(set(one) == {"request_id", "search_no", "query"} for one in professor.asked)
    by_request = {}
    for one in professor.asked:
        by_request.setdefault(one["request_id"], []).append(one["search_no"])
    assert len(by_request) == 2
    assert all(numbers == list(range(1, len(numbers) + 1)) for numbers in by_request.values())


async def test_key_trace_and_request_id_travel_along(serving, professor, asked):
    """The configured key and nobody else's; what is no traceparent is not passed on."""
    async with serving(PROFESSOR_API_KEY="s3cret") as client:
        await client.post(PATH, json=asked, headers={"traceparent": TRACEPARENT, "Request-Id": "lecture-3"})
        first = dict(professor.headers[0])
        professor.headers.clear()
        await client.post(PATH, json=asked, headers={"traceparent": "00-zz; drop"})
    assert (first["traceparent"], first["request-id"]) == (TRACEPARENT, "lecture-3")
    assert first["authorization"] == "Bearer s3cret"
    assert "traceparent" not in professor.headers[0]


async def test_where_requests_are_traced_the_professor_belongs_to_the_trace(client, professor, asked):
    """Below the span of the question that it was asked."""
    exporter = InMemorySpanExporter()
    with tracing.traced(None, exporter):
        await client.post(PATH, json=asked, headers={"traceparent": TRACEPARENT})
    questions = {
        f"{span.context.span_id:016x}" for span in exporter.get_finished_spans() if span.name == "professor search"
    }
    told = [headers["traceparent"].split("-") for headers in professor.headers]
    assert {trace for _, trace, *_ in told} == {TRACEPARENT.split("-")[1]}
    assert {span for *_, span, _ in told} == questions


async def test_the_steps_come_as_events(client, asked, professor):
    """plan, search, candidates, evaluation, and last done with what is answered otherwise."""
    whole = (await client.post(PATH, json=asked)).json()
    answer = await client.post(PATH, json=asked, headers=EVENTS)
    assert answer.headers["content-type"].startswith("text/event-stream")
    events = events_of(answer.text)
    names = [name for name, _ in events]
    assert names[:3] == ["plan", "search", "candidates"]
    assert names[-2:] == ["evaluation", "done"]
    assert names.count("done") == 1
    assert events[-1][1] == whole
    assert "TSS" not in json.dumps([data for name, data in events if name != "done"])  # no document's text


async def test_a_refusal_is_an_event_too(client, asked, professor):
    """A problem as the last event, as it would be the answer."""

    async def behave(_asked):
        return Response(status_code=500)

    professor.behave = behave
    name, data = events_of((await client.post(PATH, json=asked, headers=EVENTS)).text)[-1]
    assert (name, data["code"], data["status"]) == ("error", "search_tool_failed", 502)


async def test_a_faulty_request_for_events_is_refused_as_usual(client, asked):
    """Before any event: 400."""
    asked["k"] = 10
    assert (await client.post(PATH, json=asked, headers=EVENTS)).status_code == 400


async def left_by(client, asked, professor, headers):
    """Ask, and go away while the Professor searches; return when it has noticed."""
    reached = asyncio.Event()

    async def behave(_asked):
        reached.set()
        await asyncio.sleep(600)

    professor.behave = behave
    leaving = asyncio.create_task(client.post(PATH, json=asked, headers=headers))
    await reached.wait()
    leaving.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await leaving
    async with asyncio.timeout(30):
        await professor.left.wait()
        await running_none(client)


async def running_none(client):
    while "librarian_search_agent_running 0.0" not in (await client.get("/metrics")).text.splitlines():
        await asyncio.sleep(0.01)


async def test_a_client_that_leaves_cancels_the_search(client, asked, professor):
    """The Professor sees the connection close, and the slot is free again."""
    await left_by(client, asked, professor, {})
    assert len(professor.asked) == 1


async def test_a_client_that_leaves_the_events_cancels_the_search(client, asked, professor):
    """The same, while the steps are watched."""
    await left_by(client, asked, professor, EVENTS)
    assert len(professor.asked) == 1
