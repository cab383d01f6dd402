"""Observes statements: Prometheus metrics, a trace span, and a log line for each slow one."""

import logging
from collections import Counter

import structlog

from librarian.base import metrics, tracing

# A server first plans and compiles a statement, which says nothing about its speed.
COLD_RUNS = 3

_DATABASE = {"db.system.name": "neo4j"}

log = structlog.stdlib.get_logger("librarian.neo4j")


class QueryObserver:
    """Counts and traces every statement by name, without its contents; logs those of `slow_ms` or longer (0: none).

    The first `COLD_RUNS` successful runs of a statement are logged at level debug, to keep startup quiet; all others
    at level info.
    """

    def __init__(self, slow_ms: int) -> None:
        self._slow_ms = slow_ms
        self._runs: Counter[str] = Counter()

    def succeeded(self, statement: str, seconds: float, rows: int) -> None:
        """Record a statement that returned its rows."""
        metrics.query_seconds.labels(statement).observe(seconds)
        tracing.record(statement, seconds, {**_DATABASE, "db.response.returned_rows": rows})
        self._runs[statement] += 1
        level = logging.DEBUG if self._runs[statement] <= COLD_RUNS else logging.INFO
        self._report_slow(level, statement, seconds, rows=rows)

    def failed(self, statement: str, seconds: float, code: str) -> None:
        """Record a statement or transaction that failed or was cancelled."""
        metrics.query_errors.labels(statement, code).inc()
        tracing.record(statement, seconds, _DATABASE, failure=code)
        self._report_slow(logging.INFO, statement, seconds, code=code)

    def connections(self, in_use: int) -> None:
        """Record how many connections are in use."""
        metrics.connections.set(in_use)

    def _report_slow(self, level: int, statement: str, seconds: float, **outcome: int | str) -> None:
        ms = seconds * 1000
        if self._slow_ms and ms >= self._slow_ms:
            log.log(level, "slow query", statement=statement, ms=round(ms, 1), **outcome)
