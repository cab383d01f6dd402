"""Two ways to search asked the same queries, logged or given: how much of their hits they share."""

import json
import re
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from librarian.contracts.evaluation import ChangedQuery, ReplayReport
from librarian.errors import InvalidInput
from retrieval.evaluation.metrics import percentile
from retrieval.evaluation.overlap import overlap, rank_correlation

DEFAULT_K = 10
_SEARCH_EVENT = "search"
_HASHED = re.compile(r"[0-9a-f]{12}")
_MOST_CHANGED = 10

Ask = Callable[["Asked"], Awaitable[Sequence[str]]]
"""The uids that one of the two finds, best first."""
OnProgress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Asked:
    """One search: its namespace and queries."""

    namespace: str
    queries: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Log:
    """Different searches in the order of their first appearance, and how many could not be read back."""

    searches: Sequence[Asked]
    skipped: int = 0


def read_log(path: Path) -> Log:
    """The searches in a log of Librarian as JSON lines; each counts once, other lines are passed over.

    Queries that were logged as hashes (LIBRARIAN_LOG_QUERIES=0) cannot be asked again. Raises InvalidInput when nothing
    is left.
    """
    found: dict[Asked, None] = {}
    skipped = 0
    with path.expanduser().open(encoding="utf-8", errors="replace") as lines:
        for event in _events(lines):
            if all(_HASHED.fullmatch(query) for query in event["queries"]):
                skipped += 1
            else:
                found.setdefault(Asked(event["namespace"], tuple(event["queries"])))
    if not found:
        raise InvalidInput(
            f"{path} holds no search that can be asked again" + (f"; {skipped} are hashed" if skipped else ""),
            field="LOG",
            remedy="Log as JSON (LIBRARIAN_LOG_FORMAT=json) at level info, with queries (LIBRARIAN_LOG_QUERIES=1).",
        )
    return Log(list(found), skipped)


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
    searches: Log, a: tuple[str, Ask], b: tuple[str, Ask], *, k: int, on_progress: OnProgress | None = None
) -> ReplayReport:
    """Ask both, one after the other, and report; `a` and `b` are names with what asks."""
    (name_a, ask_a), (name_b, ask_b) = a, b
    rows = []
    for number, asked in enumerate(searches.searches, start=1):
        rows.append(_Row(asked, await _timed(ask_a, asked), await _timed(ask_b, asked), k))
        if on_progress is not None:
            on_progress(number, len(searches.searches))
    correlations = [value for row in rows if (value := rank_correlation(row.a.ranked, row.b.ranked)) is not None]
    return ReplayReport(
        a=name_a,
        b=name_b,
        k=k,
        queries=len(rows),
        skipped=searches.skipped,
        overlap=_mean(row.overlap for row in rows),
        identical=_mean(row.a.ranked[:k] == row.b.ranked[:k] for row in rows),
        first=_mean(row.a.ranked[:1] == row.b.ranked[:1] for row in rows),
        correlation=_mean(correlations) if correlations else None,
        empty={name_a: _mean(not row.a.ranked for row in rows), name_b: _mean(not row.b.ranked for row in rows)},
        latency_ms={name_a: _latency(row.a.seconds for row in rows), name_b: _latency(row.b.seconds for row in rows)},
        changed=[row.changed(k) for row in sorted(rows, key=lambda row: row.overlap)[:_MOST_CHANGED] if row.differs],
    )


@dataclass(frozen=True, slots=True)
class _Timed:
    ranked: list[str]
    seconds: float


class _Row:
    """One search and what both found."""

    def __init__(self, asked: Asked, a: _Timed, b: _Timed, k: int) -> None:
        self.asked, self.a, self.b = asked, a, b
        self.overlap = overlap(a.ranked, b.ranked, k)
        self.differs = a.ranked[:k] != b.ranked[:k]

    def changed(self, k: int) -> ChangedQuery:
        """For the report."""
        ours, theirs = self.a.ranked[:k], self.b.ranked[:k]
        return ChangedQuery(
            namespace=self.asked.namespace,
            query=" / ".join(self.asked.queries),
            overlap=round(self.overlap, 4),
            only_a=[uid for uid in ours if uid not in theirs],
            only_b=[uid for uid in theirs if uid not in ours],
        )


async def _timed(ask: Ask, asked: Asked) -> _Timed:
    started = time.perf_counter()
    ranked = list(await ask(asked))
    return _Timed(ranked, time.perf_counter() - started)


def _mean(values: Iterable[float]) -> float:
    known = list(values)
    return round(sum(known) / len(known), 4) if known else 0.0


def _latency(seconds: Iterable[float]) -> dict[str, float]:
    known = list(seconds)
    return {f"p{round(share * 100)}": round(percentile(known, share) * 1000, 1) for share in (0.5, 0.95)}
