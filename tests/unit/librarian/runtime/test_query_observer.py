from structlog.testing import capture_logs

from librarian.base import metrics
from librarian.runtime.query_observer import COLD_RUNS, QueryObserver


def figure(line):
    """The value of one line of the exposition; 0 where it is not there yet."""
    found = [text.rpartition(" ")[2] for text in metrics.exposition().decode().splitlines() if text.startswith(line)]
    return float(found[0]) if found else 0.0


def warm_observer(statement):
    """One that has seen the statement as often as a server needs to compile it."""
    observer = QueryObserver(slow_ms=500)
    for _ in range(COLD_RUNS):
        observer.succeeded(statement, 0.1, 1)
    return observer


def test_only_statements_at_or_over_the_threshold_are_logged_by_name():
    observer = warm_observer("slow")
    with capture_logs() as logged:
        observer.succeeded("quick", 0.4999, 3)
        observer.succeeded("slow", 0.5, 3)
        observer.failed("slower", 1.0, "query_timeout")
    assert logged == [
        {"event": "slow query", "log_level": "info", "statement": "slow", "ms": 500.0, "rows": 3},
        {"event": "slow query", "log_level": "info", "statement": "slower", "ms": 1000.0, "code": "query_timeout"},
    ]


def test_what_the_server_runs_for_the_first_time_is_logged_for_debugging_only():
    """It is planned and compiled then; a failure is told all the same."""
    observer = QueryObserver(slow_ms=500)
    with capture_logs() as logged:
        for _ in range(COLD_RUNS + 1):
            observer.succeeded("slow", 0.6, 3)
        observer.failed("other", 0.6, "cancelled")
    assert [line["log_level"] for line in logged] == ["debug"] * COLD_RUNS + ["info", "info"]


def test_zero_logs_none():
    with capture_logs() as logged:
        QueryObserver(slow_ms=0).succeeded("slow", 60.0, 1)
    assert logged == []


def test_failures_are_counted_by_statement_and_code():
    line = 'librarian_neo4j_errors_total{code="cancelled",statement="some_statement"}'
    before = figure(line)
    QueryObserver(slow_ms=0).failed("some_statement", 0.1, "cancelled")
    assert figure(line) == before + 1


def test_connections_in_use_are_told():
    QueryObserver(slow_ms=0).connections(7)
    assert figure("librarian_neo4j_connections_in_use ") == 7
