"""Metrics for Prometheus, in a registry of their own.

Labels are bounded: routes, stages, outcomes and statement names.
"""

from collections.abc import Callable, Mapping
from functools import partial

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from librarian.contracts.items import IngestReport

CONTENT_TYPE = CONTENT_TYPE_LATEST

_HITS = (0, 1, 2, 5, 10, 20, 30, 40, 50)
_CANDIDATES = (5, 10, 20, 30, 50, 75, 100)
_RERANK_SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 3, 5, 7, 10, 15)
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)

_registry = CollectorRegistry()
_requests = Counter("librarian_http_requests", "HTTP requests.", ["route", "method", "status"], registry=_registry)
_request_seconds = Histogram(
    "librarian_http_request_seconds", "Time of HTTP requests.", ["route"], buckets=_SECONDS, registry=_registry
)
_running = Gauge("librarian_http_running", "Requests that hold a slot.", registry=_registry)
_queued = Gauge("librarian_http_queued", "Requests that wait for a slot.", registry=_registry)
_refused = Counter("librarian_http_refused", "Requests refused by a limit.", ["reason"], registry=_registry)
_stage_seconds = Histogram(
    "librarian_search_stage_seconds", "Time of a stage of a search.", ["stage"], buckets=_SECONDS, registry=_registry
)
_search_arms = Counter("librarian_search_arms", "What each arm of a search did.", ["arm", "status"], registry=_registry)
_search_overfetch = Counter(
    "librarian_search_overfetch", "Searches that a first look did not fill.", ["how"], registry=_registry
)
_search_hits = Histogram("librarian_search_hits", "Hits of a search.", buckets=_HITS, registry=_registry)
_rerank_calls = Counter(
    "memory_agent_rerank_calls", "Searches that may be reranked.", ["tool", "status", "variant"], registry=_registry
)
_rerank_candidates = Histogram(
    "memory_agent_rerank_candidates", "Candidates scored in a rerank.", buckets=_CANDIDATES, registry=_registry
)
_rerank_seconds = Histogram(
    "memory_agent_rerank_latency_seconds", "Time of a rerank.", buckets=_RERANK_SECONDS, registry=_registry
)
_rerank_errors = Counter(
    "memory_agent_rerank_server_errors", "Failures of the reranker.", ["error_type"], registry=_registry
)
_encoder_queue = Gauge(
    "librarian_encoder_queue", "Encoder calls that wait for a thread.", ["priority"], registry=_registry
)
_rows = Counter("librarian_ingest_rows", "Rows read by ingest.", ["outcome"], registry=_registry)
_pending = Gauge("librarian_pending_embeddings", "Items that wait for their vectors.", registry=_registry)
_query_seconds = Histogram(
    "librarian_neo4j_query_seconds", "Time of a Cypher statement.", ["statement"], buckets=_SECONDS, registry=_registry
)
_query_errors = Counter(
    "librarian_neo4j_errors", "Statements and transactions that failed.", ["statement", "code"], registry=_registry
)
_connections = Gauge(
    "librarian_neo4j_connections_in_use", "Connections held or waited for by work.", registry=_registry
)
_connections_max = Gauge("librarian_neo4j_connections_max", "Largest size of the connection pool.", registry=_registry)
_batch_seconds = Histogram(
    "librarian_ingest_batch_seconds", "Time to store one batch.", buckets=_SECONDS, registry=_registry
)


def observe_request(route: str, method: str, status: int, seconds: float) -> None:
    """Count one HTTP request; `route` is the pattern, never the path that was sent."""
    _requests.labels(route, method, str(status)).inc()
    _request_seconds.labels(route).observe(seconds)


def set_load(running: int, queued: int) -> None:
    """Say how many requests hold a slot and how many wait for one."""
    _running.set(running)
    _queued.set(queued)


def count_refused(reason: str) -> None:
    """Count a request refused by a limit: "overloaded", "rate_limit" or "failed_authentication"."""
    _refused.labels(reason).inc()


def observe_stage(stage: str, seconds: float) -> None:
    """Note how long a stage of one search took."""
    _stage_seconds.labels(stage).observe(seconds)


def count_search(*, arms: Mapping[str, str], overfetch: str | None, hits: int) -> None:
    """Count one search: what each arm did ("ok", "skipped: …", "failed: …"), how the limit was filled, and its hits."""
    for arm, status in arms.items():
        _search_arms.labels(arm, status.partition(":")[0]).inc()
    if overfetch is not None:
        _search_overfetch.labels(overfetch).inc()
    _search_hits.observe(hits)


def count_rerank(tool: str, status: str, variant: str) -> None:
    """Count a search that asked for reranking: `status` is a RerankStatus, `variant` "reranked" or "control"."""
    _rerank_calls.labels(tool, status, variant).inc()


def observe_rerank(candidates: int, seconds: float) -> None:
    """Note how many candidates a rerank scored, and how long it took."""
    _rerank_candidates.observe(candidates)
    _rerank_seconds.observe(seconds)


def count_rerank_error(error_type: str) -> None:
    """Count a failure of the reranker; `error_type` is the code of a RerankerError, "late" or "uncertain"."""
    _rerank_errors.labels(error_type).inc()


def watch_encoder_queue(waiting: Callable[[], Mapping[str, int]]) -> None:
    """Read the encoder's queue whenever metrics are asked for; `waiting` gives the calls of each priority."""
    for priority in waiting():
        _encoder_queue.labels(priority).set_function(partial(_waiting_calls, waiting, priority))


def _waiting_calls(waiting: Callable[[], Mapping[str, int]], priority: str) -> float:
    return waiting()[priority]


def observe_query(statement: str, seconds: float) -> None:
    """Note how long the named Cypher statement took, results included."""
    _query_seconds.labels(statement).observe(seconds)


def count_query_error(statement: str, code: str) -> None:
    """Count a failed statement; `code` is the code of a GraphError, or "cancelled"."""
    _query_errors.labels(statement, code).inc()


def set_connections(in_use: int) -> None:
    """Say how many connections to the database are in use."""
    _connections.set(in_use)


def set_connections_max(most: int) -> None:
    """Say how many connections to the database there may be."""
    _connections_max.set(most)


def observe_batch(seconds: float) -> None:
    """Note how long storing one batch of rows took."""
    _batch_seconds.observe(seconds)


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
