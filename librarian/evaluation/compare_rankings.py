"""Compares two ways to search on the same queries, logged or given: the share of common hits."""

import json
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from librarian.base.errors import InvalidInput
from librarian.evaluation.contracts import ChangedQuery, ReplayReport
from librarian.evaluation.measures import OnProgress, latency_ms, mean, timed
from retrieval.evaluation.overlap import overlap, rank_correlation

_SEARCH_EVENT = "search"
_HASHED = re.compile(r"[0-9a-f]{12}")
_MOST_CHANGED = 10

Ask = Callable[["LoggedSearch"], Awaitable[Sequence[str]]]
"""Returns the uids that one of the systems finds, best first."""


@dataclass(frozen=True, slots=True)
class LoggedSearch:
    """One search: its namespace and queries."""

    namespace: str
    queries: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SearchLog:
    """The distinct searches in order of first appearance, and the number of unreadable ones."""

    searches: Sequence[LoggedSearch]
    skipped: int = 0


def read_log(path: Path) -> SearchLog:
    """Return the searches in a JSON log of Librarian; each counts once, other lines are ignored.

    Queries logged as hashes (LIBRARIAN_LOG_QUERIES=0) cannot be repeated. Raises InvalidInput if none is left.
    """
    found: dict[LoggedSearch, None] = {}
    skipped = 0
    with path.expanduser().open(encoding="utf-8", errors="replace") as lines:
        for event in _events(lines):
            if all(_HASHED.fullmatch(query) for query in event["queries"]):
                skipped += 1
            else:
                found.setdefault(LoggedSearch(event["namespace"], tuple(event["queries"])))
    if not found:
        raise InvalidInput(
            f"{path} holds no search that can be repeated" + (f"; {skipped} are hashed" if skipped else ""),
            field="LOG",
            remedy="Log as JSON (LIBRARIAN_LOG_FORMAT=json) at level info, with queries (LIBRARIAN_LOG_QUERIES=1).",
        )
    return SearchLog(list(found), skipped)


def _events(lines: Iterable[str]) -> Iterable[Mapping[str, Any]]:
    for line in lines:
        if not line.startswith("{"):
            continue
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if event.get("event") == _SEARCH_EVENT and event.get("queries") and event.get("namespace"):
            yield event


async def compare_rankings(
    searches: SearchLog, a: tuple[str, Ask], b: tuple[str, Ask], *, k: int, on_progress: OnProgress | None = None
) -> ReplayReport:
    """Run both systems in turn and report; `a` and `b` are pairs of a name and a search function."""
    (name_a, ask_a), (name_b, ask_b) = a, b
    rows = []
    for number, search in enumerate(searches.searches, start=1):
        rows.append(_Row(search, *(await timed(ask_a(search))), *(await timed(ask_b(search))), k))
        if on_progress is not None:
            on_progress(number, len(searches.searches))
    correlations = [value for row in rows if (value := rank_correlation(row.a, row.b)) is not None]
    return ReplayReport(
        a=name_a,
        b=name_b,
        k=k,
        queries=len(rows),
        skipped=searches.skipped,
        overlap=mean(row.overlap for row in rows),
        identical=mean(row.a[:k] == row.b[:k] for row in rows),
        first=mean(row.a[:1] == row.b[:1] for row in rows),
        correlation=mean(correlations) if correlations else None,
        empty={name_a: mean(not row.a for row in rows), name_b: mean(not row.b for row in rows)},
        latency_ms={
            name_a: latency_ms(row.seconds_a for row in rows),
            name_b: latency_ms(row.seconds_b for row in rows),
        },
        changed=[row.changed(k) for row in sorted(rows, key=lambda row: row.overlap)[:_MOST_CHANGED] if row.differs],
    )


class _Row:
    """One search, with the hits and seconds of both systems."""

    def __init__(
        self, search: LoggedSearch, a: Sequence[str], seconds_a: float, b: Sequence[str], seconds_b: float, k: int
    ) -> None:
        self.search, self.a, self.b = search, list(a), list(b)
        self.seconds_a, self.seconds_b = seconds_a, seconds_b
        self.overlap = overlap(self.a, self.b, k)
        self.differs = self.a[:k] != self.b[:k]

    def changed(self, k: int) -> ChangedQuery:
        """Return the row of the report."""
        first_a, first_b = self.a[:k], self.b[:k]
        return ChangedQuery(
            namespace=self.search.namespace,
            query=" / ".join(self.search.queries),
            overlap=round(self.overlap, 4),
            only_a=[uid for uid in first_a if uid not in first_b],
            only_b=[uid for uid in first_b if uid not in first_a],
        )
