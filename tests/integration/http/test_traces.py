"""One request is one trace, from its route over the stages of a search to every statement."""

import contextlib

import httpx2
import pytest
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from librarian.base import tracing
from librarian.http.mcp import MCP_PATH

TRACE = "0af7651916cd43dd8448eb211c80319c"
TRACED = {"traceparent": f"00-{TRACE}-b7ad6b7169203331-01"}
SECRET = "Postgres whispers at midnight"


@pytest.fixture
def traced():
    """Spans of the block, as they ended."""

    @contextlib.contextmanager
    def trace():
        exporter, found = InMemorySpanExporter(), []
        with tracing.traced(None, exporter):
            yield found
        found += exporter.get_finished_spans()

    return trace


def parents_of(spans):
    """The names from each span up to the request's, by the span's name."""
    by_id = {span.context.span_id: span for span in spans}

    def path(span):
        above = by_id.get(span.parent.span_id) if span.parent else None
        return [span.name] if above is None else [span.name, *path(above)]

    return {span.name: path(span) for span in spans}


async def test_a_search_shows_its_stages_and_statements(client, headers, traced, ingest):
    """Each statement is below its stage, all of them in the caller's trace, and no text is in any of them."""
    await ingest({"kind": "memory", "uid": "m1", "text": SECRET})
    with traced() as spans:
        found = await client.post("/v1/search", json={"queries": [SECRET]}, headers={**TRACED, **headers})
    assert found.json()["results"]
    parents = parents_of(spans)
    stages = {"encode", "arms", "traits", "fuse", "hydrate"}
    assert stages <= set(parents)
    for stage in stages:
        assert parents[stage][1:] == ["search search", "POST /v1/search"]
    statements = [span for span in spans if "db.system.name" in span.attributes]
    assert len(statements) >= 2
    assert {parents[span.name][1] for span in statements} >= {"arms", "hydrate"}
    assert {f"{span.context.trace_id:032x}" for span in spans} == {TRACE}
    reported = "".join(span.to_json() for span in spans)
    assert "Postgres" not in reported
    assert "midnight" not in reported


async def test_a_tool_over_mcp_is_a_part_of_its_request(client, headers, traced, ingest):
    """tools/call with the tool's name stands between the request and the search."""
    await ingest({"kind": "memory", "uid": "m1", "text": SECRET})
    with traced() as spans:
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60, trust_env=False) as http,
            streamable_http_client(str(client.base_url.join(MCP_PATH)), http_client=http) as (reading, writing),
            ClientSession(reading, writing) as session,
        ):
            await session.initialize()
            await session.call_tool("search_all", {"queries": [SECRET]})
    parents = parents_of(spans)
    assert parents["arms"] == ["arms", "search search_all", "tools/call search_all", "POST /mcp"]
