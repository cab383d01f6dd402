"""Metrics for Prometheus, in a registry of their own.

Labels are bounded: routes, stages, outcomes and statement names.
"""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from librarian.contracts.items import IngestReport

CONTENT_TYPE = CONTENT_TYPE_LATEST

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)

_registry = CollectorRegistry()
_requests = Counter("librarian_http_requests", "HTTP requests.", ["route", "method", "status"], registry=_registry)
_request_seconds = Histogram(
    "librarian_http_request_seconds", "Time of HTTP requests.", ["route"], buckets=_SECONDS, registry=_registry
)
_stage_seconds = Histogram(
    "librarian_search_stage_seconds", "Time of a stage of a search.", ["stage"], buckets=_SECONDS, registry=_registry
)
_rows = Counter("librarian_ingest_rows", "Rows read by ingest.", ["outcome"], registry=_registry)
_pending = Gauge("librarian_pending_embeddings", "Items that wait for their vectors.", registry=_registry)
_query_seconds = Histogram(
    "librarian_neo4j_query_seconds", "Time of a Cypher statement.", ["statement"], buckets=_SECONDS, registry=_registry
)


def observe_request(route: str, method: str, status: int, seconds: float) -> None:
    """Count one HTTP request; `route` is the pattern, never the path that was sent."""
    _requests.labels(route, method, str(status)).inc()
    _request_seconds.labels(route).observe(seconds)


def observe_stage(stage: str, seconds: float) -> None:
    """Note how long a stage of one search took."""
    _stage_seconds.labels(stage).observe(seconds)


def observe_query(statement: str, seconds: float) -> None:
    """Note how long the named Cypher statement took, results included."""
    _query_seconds.labels(statement).observe(seconds)


def count_rows(report: IngestReport) -> None:
    """Count what became of the rows of one finished ingest."""
    for outcome in ("added", "updated", "unchanged", "failed"):
        _rows.labels(outcome).inc(getattr(report, outcome))


def set_pending_embeddings(items: int) -> None:
    """Say how many items wait for their vectors."""
    _pending.set(items)


def exposition() -> bytes:
    """Everything, as text for Prometheus (CONTENT_TYPE)."""
    return generate_latest(_registry)
