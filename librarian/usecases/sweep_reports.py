"""Reports of sweeps: one as it ends, those that have run, and one of these with the changes it made."""

from collections.abc import Callable
from contextlib import aclosing
from typing import Any

import msgspec

from graph import sweep as graph
from graph.executor import Executor
from graph.sweep import RecordedChange
from librarian import cursors
from librarian.contracts.sweeps import (
    SweepChange,
    SweepList,
    SweepLlm,
    SweepProgress,
    SweepQuery,
    SweepRefusal,
    SweepReport,
)
from librarian.errors import InvalidInput
from librarian.strictjson import convert
from librarian.usecases import sweep_state
from librarian.usecases.sweep_run import SweepEvents, no_sweep

MAX_CHANGES = 1000
"""Changes that one answer holds; those of a sweep that was applied are read page by page."""

_SHOWN = 30
_BEHIND_ALL = "t"
_SAME = (
    "action", "state", "seq", "confidence", "method", "old_type", "new_type", "reason", "model", "relation",
    "edge_id", "edge_state",
)  # fmt: skip


async def collected(sweep: SweepEvents, on_progress: Callable[[SweepProgress], None] | None) -> SweepReport:
    """The report of a sweep with the first of its changes and refusals."""
    changes: list[SweepChange] = []
    refused: list[SweepRefusal] = []
    found = 0
    async with aclosing(sweep) as events:
        async for event in events:
            if isinstance(event, SweepReport):
                event.changes, event.refused = changes, refused
                event.changes_left_out = found - len(changes)
                return event
            if isinstance(event, SweepLlm):
                continue
            found += len(event.changes)
            changes.extend(event.changes[: MAX_CHANGES - len(changes)])
            refused.extend(event.refused[: MAX_CHANGES - len(refused)])
            if on_progress:
                on_progress(event.progress)
    raise RuntimeError("a sweep ends with its report")


def shortened(report: SweepReport) -> SweepReport:
    """The report with as few changes as somebody reads; no plan any more."""
    left_out = report.changes_left_out + max(0, len(report.changes) - _SHOWN)
    return msgspec.structs.replace(report, changes=report.changes[:_SHOWN], changes_left_out=left_out)


async def list_sweeps(executor: Executor, namespace: str, query: SweepQuery) -> SweepList:
    """One page of the sweeps of `namespace`, the newest first. Raises InvalidInput for a cursor of another query."""
    before = _position(query, query.cursor) if query.cursor else _BEHIND_ALL
    found = await graph.list_runs(executor, namespace, before=before, limit=query.limit + 1)
    page = found[: query.limit]
    more = len(found) > len(page)
    return SweepList(
        sweeps=[sweep_state.brief_of(run) for run in page],
        next_cursor=cursors.encode(query, [page[-1].sweep_id]) if more else None,
    )


async def get_sweep(executor: Executor, namespace: str, sweep_id: str, query: SweepQuery) -> SweepReport:
    """A sweep with one page of its changes; what they say of texts stands in the memories and their revisions.

    Raises NotFound, InvalidInput for a cursor of another query.
    """
    run = await graph.get(executor, namespace, sweep_id)
    if run is None:
        raise no_sweep(namespace)
    after = int(_position(query, query.cursor)) if query.cursor else -1
    found = await graph.changes(executor, namespace, sweep_id, after=after, limit=query.limit + 1)
    page = found[: query.limit]
    report = sweep_state.report_of(namespace, run)
    report.changes = [change_of(one) for one in page]
    if len(found) > len(page):
        report.next_cursor = cursors.encode(query, [str(page[-1].seq)])
    return report


def change_of(recorded: RecordedChange) -> SweepChange:
    """A recorded change for the wire."""
    stored = recorded.properties
    fields: dict[str, Any] = {name: stored[name] for name in _SAME if stored.get(name) is not None}
    fields |= {"memory_id": recorded.uid, "version": stored["version"]}
    if "target" in stored:
        fields["target_id"] = stored["target"]
    return convert(fields, SweepChange)


def _position(query: SweepQuery, cursor: str) -> str:
    match cursors.decode(query, cursor):
        case [position] if position.isdigit() or position.startswith("sweep-"):
            return position
    raise InvalidInput("this is no cursor of a list of sweeps", field="$.cursor")
