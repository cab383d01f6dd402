"""Metrics for Prometheus, in a registry of their own.

Labels are bounded: routes, stages, outcomes and statement names.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, Protocol

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

CONTENT_TYPE = CONTENT_TYPE_LATEST

SHARED_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""The environment variable that names the folder in which workers of one service keep their metrics (prometheus_client
reads it when it is imported).
"""

_HITS = (0, 1, 2, 5, 10, 20, 30, 40, 50)
_SEARCHES = (0, 1, 2, 3, 4, 5, 8, 12, 20, 40, 80)
_ITERATIONS = tuple(range(1, 11))
_THRESHOLDS = (0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75)
_RESULTS = (0, 5, 10, 15, 20, 25, 30, 40, 50)
_CANDIDATES = (5, 10, 20, 30, 50, 75, 100)
_RERANK_SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 3, 5, 7, 10, 15)
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)

_SWEEP_SECONDS = (0.1, 1, 5, 15, 60, 300, 900, 3600)

LABELS: dict[str, tuple[str, ...]] = {}
"""The labels of each metric, by its name."""

_registry = CollectorRegistry()
_watched: dict[str, Callable[[], None]] = {}


def _counter(name: str, meaning: str, *labels: str) -> Counter:
    LABELS[name] = labels
    return Counter(name, meaning, labels, registry=_registry)


def _gauge(
    name: str, meaning: str, *labels: str, of_all: Literal["livesum", "livemin", "livemax"] = "livesum"
) -> Gauge:
    """`of_all`: how the values of several workers are aggregated."""
    LABELS[name] = labels
    return Gauge(name, meaning, labels, registry=_registry, multiprocess_mode=of_all)


def _histogram(name: str, meaning: str, buckets: Sequence[float], *labels: str) -> Histogram:
    LABELS[name] = labels
    return Histogram(name, meaning, labels, buckets=buckets, registry=_registry)


_requests = _counter("librarian_http_requests", "HTTP requests.", "route", "method", "status")
_request_seconds = _histogram("librarian_http_request_seconds", "Time of HTTP requests.", _SECONDS, "route")
_ready = _gauge("librarian_ready", "1 while the graph can be used, else 0.", of_all="livemin")
_running = _gauge("librarian_http_running", "Requests that hold a slot.")
_queued = _gauge("librarian_http_queued", "Requests that wait for a slot.")
_refused = _counter("librarian_http_refused", "Requests refused by a limit.", "reason")
_stage_seconds = _histogram("librarian_search_stage_seconds", "Time of a stage of a search.", _SECONDS, "stage")
_mcp_calls = _counter("librarian_mcp_calls", "Tool calls over MCP.", "tool", "outcome")
_search_arms = _counter("librarian_search_arms", "What each arm of a search did.", "arm", "status")
_search_overfetch = _counter("librarian_search_overfetch", "Searches that a first look did not fill.", "how")
_search_hits = _histogram("librarian_search_hits", "Hits of a search.", _HITS)
_threshold_iterations = _histogram(
    "memory_agent_adaptive_threshold_iterations", "Steps of an adaptive threshold.", _ITERATIONS
)
_final_threshold = _histogram(
    "memory_agent_adaptive_final_threshold", "Where an adaptive threshold ended.", _THRESHOLDS
)
_threshold_results = _histogram(
    "memory_agent_adaptive_result_count", "Hits of a search with an adaptive threshold.", _RESULTS
)
_rerank_calls = _counter("memory_agent_rerank_calls", "Searches that may be reranked.", "tool", "status", "variant")
_rerank_candidates = _histogram(
    "memory_agent_rerank_candidates", "Candidates given to the reranker in a search.", _CANDIDATES
)
_rerank_seconds = _histogram("memory_agent_rerank_latency_seconds", "Time of a rerank.", _RERANK_SECONDS)
_rerank_errors = _counter("memory_agent_rerank_server_errors", "Failures of the reranker.", "error_type")
_agent_running = _gauge("librarian_search_agent_running", "Requests to the search agent that hold a slot.")
_agent_requests = _counter("librarian_search_agent_requests", "Finished search agents.", "status", "stopped_by")
_agent_searches = _histogram("librarian_search_agent_searches", "Searches of one search agent.", _SEARCHES)
_agent_seconds = _histogram("librarian_search_agent_seconds", "Time of one search agent.", _SECONDS)
_encoder_queue = _gauge("librarian_encoder_queue", "Encoder calls that wait for a thread.", "priority")
_rows = _counter("librarian_ingest_rows", "Rows read by ingest.", "outcome")
_sweeps = _counter("librarian_sweep_runs", "Finished sweeps.", "dry_run")
_swept = _counter("librarian_sweep_memories", "Memories that sweeps looked at.", "dry_run")
_sweep_seconds = _histogram("librarian_sweep_seconds", "Time of a sweep.", _SWEEP_SECONDS)
_sweep_changes = _counter("librarian_sweep_changes", "Changes that sweeps made or proposed.", "action", "what")
_pending = _gauge("librarian_pending_embeddings", "Items that wait for their vectors.", of_all="livemax")
_webhook_deliveries = _counter("librarian_webhook_deliveries", "Deliveries of webhooks.", "outcome")
_webhooks_paused = _gauge(
    "librarian_webhooks_paused", "Webhooks that were paused, as nothing was taken for too long.", of_all="livemax"
)
_backups = _counter("librarian_backups", "Scheduled backups.", "outcome")
_backup_age = _gauge(
    "librarian_backup_age_seconds",
    "Age of the newest backup; +Inf without one, 0 without a schedule.",
    of_all="livemax",
)
_query_seconds = _histogram("librarian_neo4j_query_seconds", "Time of a Cypher statement.", _SECONDS, "statement")
_query_errors = _counter("librarian_neo4j_errors", "Statements and transactions that failed.", "statement", "code")
_connections = _gauge("librarian_neo4j_connections_in_use", "Connections held or waited for by work.")
_connections_max = _gauge("librarian_neo4j_connections_max", "Largest size of the connection pool.")
_batch_seconds = _histogram("librarian_ingest_batch_seconds", "Time to store one batch.", _SECONDS)


class RowCounts(Protocol):
    """How many rows of an ingest had each outcome."""

    added: int
    updated: int
    unchanged: int
    failed: int


def observe_request(route: str, method: str, status: int, seconds: float) -> None:
    """Count one HTTP request; `route` is the pattern, never the path that was sent."""
    _requests.labels(route, method, str(status)).inc()
    _request_seconds.labels(route).observe(seconds)


def set_ready(*, ready: bool) -> None:
    """Set whether the graph can be used."""
    _ready.set(ready)


def set_load(running: int, queued: int) -> None:
    """Set how many requests hold a slot and how many wait for one."""
    _running.set(running)
    _queued.set(queued)


def count_refused(reason: str) -> None:
    """Count a request refused by a limit: "overloaded", "rate_limit" or "failed_authentication"."""
    _refused.labels(reason).inc()


def count_mcp_call(tool: str, *, failed: bool) -> None:
    """Count one tool call over MCP."""
    _mcp_calls.labels(tool, "failed" if failed else "ok").inc()


def observe_stage(stage: str, seconds: float) -> None:
    """Record how long a stage of one search took."""
    _stage_seconds.labels(stage).observe(seconds)


def count_search(*, arms: Mapping[str, str], overfetch: str | None, hits: int) -> None:
    """Count one search: what each arm did ("ok", "skipped: …", "failed: …"), how the limit was filled, and its hits."""
    for arm, status in arms.items():
        _search_arms.labels(arm, status.partition(":")[0]).inc()
    if overfetch is not None:
        _search_overfetch.labels(overfetch).inc()
    _search_hits.observe(hits)


def observe_adaptive_threshold(iterations: int, threshold: float, hits: int) -> None:
    """Record after how many steps and where (0..1) an adaptive threshold ended, and how many hits it left."""
    _threshold_iterations.observe(iterations)
    _final_threshold.observe(threshold)
    _threshold_results.observe(hits)


def count_rerank(tool: str, status: str, variant: str) -> None:
    """Count a search that asked for reranking: `status` is a RerankStatus, `variant` "reranked" or "control"."""
    _rerank_calls.labels(tool, status, variant).inc()


def observe_rerank(candidates: int, seconds: float) -> None:
    """Record how many candidates a reranker was given, and how long it took."""
    _rerank_candidates.observe(candidates)
    _rerank_seconds.observe(seconds)


def count_rerank_error(error_type: str) -> None:
    """Count a failure of the reranker; `error_type` is the code of a RerankerError, "late" or "uncertain"."""
    _rerank_errors.labels(error_type).inc()


def set_agent_load(running: int, _queued: int) -> None:
    """Set how many requests to the search agent hold a slot; none waits for one."""
    _agent_running.set(running)


def observe_search_agent(status: str, stopped_by: str, searches: int, seconds: float) -> None:
    """Count a finished search agent, by its status and by what ended it."""
    _agent_requests.labels(status, stopped_by).inc()
    _agent_searches.observe(searches)
    _agent_seconds.observe(seconds)


def watch_encoder_queue(waiting: Callable[[], Mapping[str, int]]) -> None:
    """Read the encoder's queue whenever metrics are asked for; `waiting` gives the calls of each priority."""

    def read() -> None:
        for priority, calls in waiting().items():
            _encoder_queue.labels(priority).set(calls)

    _watched["encoder queue"] = read


def observe_query(statement: str, seconds: float) -> None:
    """Record how long the named Cypher statement took, results included."""
    _query_seconds.labels(statement).observe(seconds)


def count_query_error(statement: str, code: str) -> None:
    """Count a failed statement; `code` is the code of a GraphError, or "cancelled"."""
    _query_errors.labels(statement, code).inc()


def set_connections(in_use: int) -> None:
    """Set how many connections to the database are in use."""
    _connections.set(in_use)


def set_connections_max(most: int) -> None:
    """Set how many connections to the database there may be."""
    _connections_max.set(most)


def observe_batch(seconds: float) -> None:
    """Record how long storing one batch of rows took."""
    _batch_seconds.observe(seconds)


def count_rows(report: RowCounts) -> None:
    """Count the outcomes of the rows of one finished ingest."""
    for outcome in ("added", "updated", "unchanged", "failed"):
        _rows.labels(outcome).inc(getattr(report, outcome))


def count_sweep(*, dry_run: bool, memories: int, seconds: float) -> None:
    """Count a finished sweep and the memories it looked at."""
    label = str(dry_run).lower()
    _sweeps.labels(label).inc()
    _swept.labels(label).inc(memories)
    _sweep_seconds.observe(seconds)


def count_sweep_change(action: str, what: str) -> None:
    """Count a committed change; `what` is the type or relation that it gives, or empty."""
    _sweep_changes.labels(action, what).inc()


def set_pending_embeddings(items: int) -> None:
    """Set how many items wait for their vectors."""
    _pending.set(items)


def count_webhook_delivery(outcome: str) -> None:
    """Count a delivery of a webhook: "taken" or "failed"."""
    _webhook_deliveries.labels(outcome).inc()


def set_paused_webhooks(webhooks: int) -> None:
    """Set how many webhooks of the graph are paused."""
    _webhooks_paused.set(webhooks)


def count_backup(outcome: str) -> None:
    """Count a scheduled backup: "made" or "failed"."""
    _backups.labels(outcome).inc()


def watch_backup_age(age_s: Callable[[], float]) -> None:
    """Read the age of the newest backup, in seconds, whenever metrics are asked for."""
    _watched["backup age"] = lambda: _backup_age.set(age_s())


def forget_worker(pid: int, folder: str) -> None:
    """Drop the gauges of an ended worker from the metrics in `folder`."""
    mark_process_dead(pid, folder)  # type: ignore[no-untyped-call]  # the library has no types here


def exposition() -> bytes:
    """Return every metric as text for Prometheus (CONTENT_TYPE): of all workers, where there are several."""
    for read in _watched.values():
        read()
    if SHARED_FOLDER not in os.environ:
        return generate_latest(_registry)
    of_all = CollectorRegistry()
    MultiProcessCollector(of_all)  # type: ignore[no-untyped-call]  # the library has no types here
    return generate_latest(of_all)
