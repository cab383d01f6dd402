"""What a sweep tells of itself: structured events, and counters."""

from collections.abc import Sequence
from datetime import UTC, datetime

import structlog

from librarian import metrics
from librarian.contracts.sweeps import SweepChange, SweepReport

log = structlog.stdlib.get_logger("librarian.sweep")


def tell_run(report: SweepReport, seconds: float) -> None:
    """A finished sweep."""
    log.info(
        "LibrarianSweepRun",
        timestamp=datetime.now(UTC).isoformat(),
        sweep_id=report.sweep_id,
        memories_processed=report.summary.memories_scanned,
        dry_run=report.dry_run,
        domains=report.config.domains,
        duration_ms=round(seconds * 1000),
    )
    metrics.count_sweep(dry_run=report.dry_run, memories=report.summary.memories_scanned, seconds=seconds)


def tell_changes(changes: Sequence[SweepChange]) -> None:
    """Changes that are committed."""
    for change in changes:
        if change.action == "retype":
            log.info(
                "MemoryRetyped",
                memory_id=change.memory_id,
                old_type=change.old_type,
                new_type=change.new_type,
                confidence=change.confidence,
            )
        elif change.action == "causal_edge":
            log.info(
                "CausalEdgeInferred",
                source_id=change.memory_id,
                target_id=change.target_id,
                relation=change.relation,
                confidence=change.confidence,
            )
        metrics.count_sweep_change(change.action, change.new_type or change.relation or "")
