"""Observes statements: figures for Prometheus, a span for traces, and a log line for each slow one."""

import structlog

from librarian.base import metrics, tracing

_DATABASE = {"db.system.name": "neo4j"}

log = structlog.stdlib.get_logger("librarian.neo4j")


class QueryObserver:
    """Counts and traces every statement by name, never what is in it; logs those that take `slow_ms` or longer (0:
    none).

    At level info: the service logs them, a one-off command, whose every statement is new to the server, does not.
    """

    def __init__(self, slow_ms: int) -> None:
        self._slow_ms = slow_ms

    def succeeded(self, statement: str, seconds: float, rows: int) -> None:
        """Record a statement that returned its rows."""
        metrics.observe_query(statement, seconds)
        tracing.record(statement, seconds, {**_DATABASE, "db.response.returned_rows": rows})
        self._report_slow(statement, seconds, rows=rows)

    def failed(self, statement: str, seconds: float, code: str) -> None:
        """Record a statement or transaction that failed or was cancelled."""
        metrics.count_query_error(statement, code)
        tracing.record(statement, seconds, _DATABASE, failure=code)
        self._report_slow(statement, seconds, code=code)

    def connections(self, in_use: int) -> None:
        """Record how many connections are in use."""
        metrics.set_connections(in_use)

    def _report_slow(self, statement: str, seconds: float, **outcome: int | str) -> None:
        ms = seconds * 1000
        if self._slow_ms and ms >= self._slow_ms:
            log.info("slow query", statement=statement, ms=round(ms, 1), **outcome)
