"""Traces (OpenTelemetry), for services that are told where to send them; otherwise nothing here does or imports
anything.

Spans name routes, tools, stages and statements. No text, query, parameter or message of an error is in them.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Literal

from librarian.errors import SettingsError
from retrieval.stopwatch import Stopwatch

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.sdk.trace.export import SpanExporter
    from opentelemetry.trace import Span as OpenSpan
    from opentelemetry.trace import Tracer

Value = str | int | float | bool
Kind = Literal["server", "client", "internal"]

_TRACES_PATH = "/v1/traces"
# A collector that does not answer must not hold up the end of the service.
_EXPORT_TIMEOUT_S = 3.0


class Span:
    """A piece of work that is traced, or not: then its methods do nothing."""

    def __init__(self, span: "OpenSpan | None") -> None:
        self._span = span

    def rename(self, name: str) -> None:
        """Give it the name that is only known now."""
        if self._span is not None:
            self._span.update_name(name)

    def tell(self, attributes: Mapping[str, Value]) -> None:
        """Add attributes."""
        if self._span is not None:
            self._span.set_attributes(attributes)

    def failed(self, kind: str) -> None:
        """It failed; `kind` is a code or the class of an error, never a message."""
        if self._span is not None:
            _mark_failed(self._span, kind)


@dataclass(slots=True)
class _State:
    """Who makes spans in this process; None: nobody."""

    tracer: "Tracer | None" = None


_state = _State()


@contextmanager
def traced(endpoint: str | None, exporter: "SpanExporter | None" = None) -> Iterator[None]:
    """Send the traces of this block to an OTLP/HTTP collector, or to `exporter`; without both nothing is traced.

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
    # Not the process's global one: that belongs to programs which have us in them.
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    _state.tracer = provider.get_tracer("librarian", version("librarian"))
    try:
        yield
    finally:
        _state.tracer = None
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

    An exception that leaves the block marks the span by its class.
    """
    tracer = _state.tracer
    if tracer is None:
        yield Span(None)
        return
    from opentelemetry.trace import SpanKind

    with tracer.start_as_current_span(
        name,
        context=None if parent is None else _extracted(parent),
        kind=SpanKind[kind.upper()],
        attributes=attributes,
        record_exception=False,
        set_status_on_exception=False,
    ) as current:
        try:
            yield Span(current)
        except BaseException as error:
            _mark_failed(current, type(error).__name__)
            raise


def note(name: str, seconds: float, attributes: Mapping[str, Value], *, failure: str | None = None) -> None:
    """Trace what has just ended after `seconds`, as a part of the work around it; alone it is not worth a trace."""
    tracer = _state.tracer
    if tracer is None:
        return
    from opentelemetry.trace import SpanKind, get_current_span

    if not get_current_span().is_recording():
        return
    ended_ns = time.time_ns()
    started_ns = ended_ns - int(seconds * 1e9)
    noted = tracer.start_span(name, kind=SpanKind.CLIENT, attributes=attributes, start_time=started_ns)
    if failure is not None:
        _mark_failed(noted, failure)
    noted.end(ended_ns)


def outgoing() -> dict[str, str]:
    """Headers that carry the current trace to another service; none where nothing is traced."""
    headers: dict[str, str] = {}
    if _state.tracer is not None:
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        TraceContextTextMapPropagator().inject(headers)
    return headers


class TracedStopwatch(Stopwatch):
    """A stopwatch whose stages are spans too."""

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Count and trace the block."""
        with super().stage(name), span(name):
            yield


def _extracted(headers: Mapping[str, str]) -> "Context":
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    return TraceContextTextMapPropagator().extract(headers)


def _mark_failed(span: "OpenSpan", kind: str) -> None:
    from opentelemetry.trace import StatusCode

    span.set_attribute("error.type", kind)
    span.set_status(StatusCode.ERROR)
