"""Metrics for Prometheus, in a registry of their own.

Labels are bounded: routes (the pattern, never the path that was sent), stages, outcomes, codes and statement names.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

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


requests = _counter("librarian_http_requests", "HTTP requests.", "route", "method", "status")
request_seconds = _histogram("librarian_http_request_seconds", "Time of HTTP requests.", _SECONDS, "route")
ready = _gauge("librarian_ready", "1 while the graph can be used, else 0.", of_all="livemin")
running = _gauge("librarian_http_running", "Requests that hold a slot.")
queued = _gauge("librarian_http_queued", "Requests that wait for a slot.")
refused = _counter("librarian_http_refused", "Requests refused by a limit.", "reason")
stage_seconds = _histogram("librarian_search_stage_seconds", "Time of a stage of a search.", _SECONDS, "stage")
mcp_calls = _counter("librarian_mcp_calls", "Tool calls over MCP.", "tool", "outcome")
search_arms = _counter("librarian_search_arms", "What each arm of a search did.", "arm", "status")
search_overfetch = _counter("librarian_search_overfetch", "Searches that a first look did not fill.", "how")
search_hits = _histogram("librarian_search_hits", "Hits of a search.", _HITS)
threshold_iterations = _histogram(
    "memory_agent_adaptive_threshold_iterations", "Steps of an adaptive threshold.", _ITERATIONS
)
final_threshold = _histogram("memory_agent_adaptive_final_threshold", "Where an adaptive threshold ended.", _THRESHOLDS)
threshold_results = _histogram(
    "memory_agent_adaptive_result_count", "Hits of a search with an adaptive threshold.", _RESULTS
)
rerank_calls = _counter("memory_agent_rerank_calls", "Searches that may be reranked.", "tool", "status", "variant")
rerank_candidates = _histogram(
    "memory_agent_rerank_candidates", "Candidates given to the reranker in a search.", _CANDIDATES
)
rerank_seconds = _histogram("memory_agent_rerank_latency_seconds", "Time of a rerank.", _RERANK_SECONDS)
rerank_errors = _counter("memory_agent_rerank_server_errors", "Failures of the reranker.", "error_type")
agent_running = _gauge("librarian_search_agent_running", "Requests to the search agent that hold a slot.")
agent_requests = _counter("librarian_search_agent_requests", "Finished search agents.", "status", "stopped_by")
agent_searches = _histogram("librarian_search_agent_searches", "Searches of one search agent.", _SEARCHES)
agent_seconds = _histogram("librarian_search_agent_seconds", "Time of one search agent.", _SECONDS)
encoder_queue = _gauge("librarian_encoder_queue", "Encoder calls that wait for a thread.", "priority")
ingest_rows = _counter("librarian_ingest_rows", "Rows read by ingest.", "outcome")
sweeps = _counter("librarian_sweep_runs", "Finished sweeps.", "dry_run")
swept = _counter("librarian_sweep_memories", "Memories that sweeps looked at.", "dry_run")
sweep_seconds = _histogram("librarian_sweep_seconds", "Time of a sweep.", _SWEEP_SECONDS)
sweep_changes = _counter("librarian_sweep_changes", "Changes that sweeps made or proposed.", "action", "what")
pending_embeddings = _gauge("librarian_pending_embeddings", "Items that wait for their vectors.", of_all="livemax")
webhook_deliveries = _counter("librarian_webhook_deliveries", "Deliveries of webhooks.", "outcome")
webhooks_paused = _gauge(
    "librarian_webhooks_paused", "Webhooks that were paused, as nothing was taken for too long.", of_all="livemax"
)
backups = _counter("librarian_backups", "Scheduled backups.", "outcome")
backup_age = _gauge(
    "librarian_backup_age_seconds",
    "Age of the newest backup; +Inf without one, 0 without a schedule.",
    of_all="livemax",
)
query_seconds = _histogram("librarian_neo4j_query_seconds", "Time of a Cypher statement.", _SECONDS, "statement")
query_errors = _counter("librarian_neo4j_errors", "Statements and transactions that failed.", "statement", "code")
connections = _gauge("librarian_neo4j_connections_in_use", "Connections held or waited for by work.")
connections_max = _gauge("librarian_neo4j_connections_max", "Largest size of the connection pool.")
batch_seconds = _histogram("librarian_ingest_batch_seconds", "Time to store one batch.", _SECONDS)


def watch_encoder_queue(waiting: Callable[[], Mapping[str, int]]) -> None:
    """Read the encoder's queue whenever metrics are asked for; `waiting` gives the calls of each priority."""

    def read() -> None:
        for priority, calls in waiting().items():
            encoder_queue.labels(priority).set(calls)

    _watched["encoder queue"] = read


def watch_backup_age(age_s: Callable[[], float]) -> None:
    """Read the age of the newest backup, in seconds, whenever metrics are asked for."""
    _watched["backup age"] = lambda: backup_age.set(age_s())


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
