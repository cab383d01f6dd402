"""Traces: nothing without a setting; with one, spans at a collector that is a small real HTTP server."""

import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from librarian.base import tracing
from librarian.base.errors import SettingsError
from librarian.runtime.query_observer import QueryObserver
from librarian_agents.chat.client import ChatConfig, OpenAIChat
from librarian_agents.errors import ChatModelError
from retrieval.rerankers.base import RerankerConfig
from retrieval.rerankers.errors import RerankerError
from retrieval.rerankers.llama_server import AsyncLlamaServerReranker

TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = {"traceparent": f"00-{TRACE}-b7ad6b7169203331-01"}


@pytest.fixture
def exporter():
    return InMemorySpanExporter()


def spans(exporter):
    return {span.name: span for span in exporter.get_finished_spans()}


@pytest.fixture
def collector():
    """An OTLP/HTTP collector: its address, and what it was sent."""
    received = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["content-length"]))
            received.append((self.path, ExportTraceServiceRequest.FromString(body)))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            pass

    yield from _served(Collector, received)


@pytest.fixture
def heard():
    """A server that refuses everything: its address, and paths and headers of what it was asked."""
    asked = []

    class Refusing(BaseHTTPRequestHandler):
        def do_POST(self):
            asked.append((self.path, self.headers))
            self.send_response(400)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def do_GET(self):
            self.do_POST()

        def log_message(self, *_):
            pass

    yield from _served(Refusing, asked)


def _served(handler, seen):
    server = HTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", seen
    server.shutdown()
    thread.join()
    server.server_close()


def test_spans_reach_the_collector_that_the_setting_names(collector, monkeypatch):
    """At the standard path, under the service's name, when the block ends at the latest."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    url, received = collector
    with tracing.traced(url), tracing.span("GET /v1/items", kind="server"):
        QueryObserver(0).succeeded("list_items", 0.001, 3)
    ((path, request),) = received
    (resource,) = request.resource_spans
    names = {attribute.key: attribute.value.string_value for attribute in resource.resource.attributes}
    assert (path, names["service.name"]) == ("/v1/traces", "librarian")
    assert {span.name for scope in resource.scope_spans for span in scope.spans} == {"GET /v1/items", "list_items"}


def test_a_statement_is_a_part_of_the_work_around_it(exporter):
    with tracing.traced(None, exporter), tracing.span("request", parent=PARENT):
        with tracing.span("stage"):
            QueryObserver(0).succeeded("find_things", 0.25, 7)
        QueryObserver(0).failed("other", 0.1, "query_timeout")
    found = spans(exporter)
    assert {f"{span.context.trace_id:032x}" for span in found.values()} == {TRACE}
    assert found["find_things"].parent.span_id == found["stage"].context.span_id
    assert found["stage"].parent.span_id == found["request"].context.span_id
    assert f"{found['request'].parent.span_id:016x}" == "b7ad6b7169203331"
    statement = found["find_things"]
    assert round((statement.end_time - statement.start_time) / 1e9, 3) == 0.25
    assert dict(statement.attributes) == {"db.system.name": "neo4j", "db.response.returned_rows": 7}
    assert (found["other"].status.status_code, found["other"].attributes["error.type"]) == (
        StatusCode.ERROR,
        "query_timeout",
    )


def test_background_statements_are_no_traces_of_their_own(exporter):
    with tracing.traced(None, exporter):
        QueryObserver(0).succeeded("count_pending", 0.1, 1)
    assert exporter.get_finished_spans() == ()


def test_an_error_is_named_by_its_class_only(exporter):
    """Messages may hold what users wrote."""
    with tracing.traced(None, exporter), pytest.raises(ValueError, match="private"), tracing.span("work"):
        raise ValueError("private text")
    (span,) = exporter.get_finished_spans()
    assert span.attributes["error.type"] == "ValueError"
    assert "private" not in span.to_json()


def test_outgoing_requests_carry_the_trace(exporter):
    with tracing.traced(None, exporter), tracing.span("work", parent=PARENT):
        assert tracing.outgoing()["traceparent"].startswith(f"00-{TRACE}-")
    assert tracing.outgoing() == {}


async def test_the_language_model_and_the_reranker_are_told_of_the_trace(exporter, heard):
    """By the same header, on every request."""
    url, headers = heard
    chat = OpenAIChat(ChatConfig(f"{url}/v1", "m"), tracing.outgoing)
    reranker = AsyncLlamaServerReranker(RerankerConfig(base_url=url), tracing.outgoing)
    with tracing.traced(None, exporter), tracing.span("work", parent=PARENT):
        with pytest.raises(ChatModelError):
            await chat.complete([])
        with pytest.raises(RerankerError):
            await reranker.score_pairs("q", ["d"])
    await chat.aclose()
    await reranker.close()
    assert {path for path, _ in headers} >= {"/v1/chat/completions"}
    assert len(headers) >= 2
    assert {sent["traceparent"].split("-")[1] for _, sent in headers} == {TRACE}


def test_without_a_setting_nothing_is_exported_or_loaded():
    """The SDK and its exporter stay unloaded; the methods of a span do nothing."""
    program = (
        "import sys; from librarian.base import tracing\n"
        "with tracing.traced(None), tracing.span('x') as span:\n"
        "    span.update_name('y'), span.set_attributes({'a': 1}), tracing.mark_failed(span, 'z')\n"
        "tracing.record('s', 0.1, {})\n"
        "sys.exit(any(name.startswith(('opentelemetry.sdk', 'opentelemetry.exporter')) for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    with pytest.raises(SettingsError) as refused, tracing.traced("http://127.0.0.1:1"):
        pass
    assert "librarian[otel]" in refused.value.remedy
