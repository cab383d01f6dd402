from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from librarian.base import tracing

TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = {"traceparent": f"00-{TRACE}-b7ad6b7169203331-01"}


async def test_a_request_is_a_span(client):
    """Named by its route, with its status and id, in its caller's trace; probes are none."""
    exporter = InMemorySpanExporter()
    with tracing.traced(None, exporter):
        await client.get("/healthz")
        refused = await client.get("/v1/items/some-secret-uid", headers={**PARENT, "Request-Id": "r1"})
        unknown = await client.get("/nowhere/secret")
    assert (refused.status_code, unknown.status_code) == (401, 404)
    found = {span.name: span for span in exporter.get_finished_spans()}
    assert set(found) == {"GET /v1/items/{uid}", "GET other"}
    request = found["GET /v1/items/{uid}"]
    assert f"{request.context.trace_id:032x}" == TRACE
    assert request.attributes["http.response.status_code"] == 401
    assert request.attributes["librarian.request_id"] == "r1"
    assert "secret" not in "".join(span.to_json() for span in found.values())
