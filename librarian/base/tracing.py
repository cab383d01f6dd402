"""OpenTelemetry traces, for services with a configured collector; otherwise spans are created and dropped.

Spans name routes, tools, stages and statements. They hold no text, query, parameter or error message.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import TYPE_CHECKING, Literal

from opentelemetry.trace import NoOpTracer, Span, SpanKind, StatusCode, Tracer, get_current_span
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from librarian.base.errors import SettingsError
from retrieval.stopwatch import Stopwatch

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export import SpanExporter

Value = str | int | float | bool
Kind = Literal["server", "client", "internal"]

_TRACES_PATH = "/v1/traces"
# An unresponsive collector must not delay the shutdown of the service.
_EXPORT_TIMEOUT_S = 3.0
_PROPAGATOR = TraceContextTextMapPropagator()


@dataclass(slots=True)
class _State:
    """The tracer of this process. OpenTelemetry's global one belongs to programs that embed the package."""

    tracer: Tracer = field(default_factory=NoOpTracer)
    exports: bool = False


_state = _State()


@contextmanager
def traced(endpoint: str | None, exporter: "SpanExporter | None" = None) -> Iterator[None]:
    """Send the traces of this block to an OTLP/HTTP collector, or to `exporter`; without both nothing is exported.

    Raises SettingsError where the extra `otel` is not installed.
    """
    if endpoint is None and exporter is None:
        yield
        return
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import OTELResourceDetector, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        raise SettingsError(
            "traces need packages that are not installed",
            field="OTEL_EXPORTER_OTLP_ENDPOINT",
            remedy="Install librarian[otel], or unset it.",
        ) from None
    if exporter is None:
        exporter = OTLPSpanExporter(f"{endpoint}".rstrip("/") + _TRACES_PATH, timeout=_EXPORT_TIMEOUT_S)
    own = Resource({"service.name": "librarian", "service.version": version("librarian")})
    resource = own.merge(OTELResourceDetector().detect())
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    _state.tracer, _state.exports = provider.get_tracer("librarian", version("librarian")), True
    try:
        yield
    finally:
        _state.tracer, _state.exports = NoOpTracer(), False
        provider.shutdown()


@contextmanager
def span(
    name: str,
    attributes: Mapping[str, Value] | None = None,
    *,
    kind: Kind = "internal",
    parent: Mapping[str, str] | None = None,
) -> Iterator[Span]:
    """Trace the block; `parent` are headers that may carry its caller's trace (W3C Trace Context).

    An exception that leaves the block marks the span with its class.
    """
    with _state.tracer.start_as_current_span(
        name,
        context=None if parent is None else _PROPAGATOR.extract(parent),
        kind=SpanKind[kind.upper()],
        attributes=attributes,
        record_exception=False,
        set_status_on_exception=False,
    ) as current:
        try:
            yield current
        except BaseException as error:
            mark_failed(current, type(error).__name__)
            raise


def record(name: str, seconds: float, attributes: Mapping[str, Value], *, failure: str | None = None) -> None:
    """Record a child span that has just ended after `seconds`; none without a parent."""
    if not get_current_span().is_recording():
        return
    ended_ns = time.time_ns()
    started_ns = ended_ns - int(seconds * 1e9)
    ended = _state.tracer.start_span(name, kind=SpanKind.CLIENT, attributes=attributes, start_time=started_ns)
    if failure is not None:
        mark_failed(ended, failure)
    ended.end(ended_ns)


def mark_failed(span: Span, kind: str) -> None:
    """Mark the work of `span` as failed; `kind` is a code or the class of an error, never a message."""
    span.set_attribute("error.type", kind)
    span.set_status(StatusCode.ERROR)


def outgoing() -> dict[str, str]:
    """Return headers that carry the current trace to another service; none without a trace."""
    headers: dict[str, str] = {}
    if _state.exports:
        _PROPAGATOR.inject(headers)
    return headers


class TracedStopwatch(Stopwatch):
    """A stopwatch whose stages are spans too."""

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Count and trace the block."""
        with super().stage(name), span(name):
            yield
