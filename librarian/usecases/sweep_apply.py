"""From planned changes to the graph's: what is written together, and what the run's list of changes says of it."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from graph.sweep import ChangeRow, Chunk, Rewrite, SweepEdge
from librarian.contracts.sweeps import SweepChange
from librarian.usecases.sweep_edges import stored_relation
from librarian.usecases.sweep_texts import rewritten

CHUNK = 100
"""Memories whose changes are one transaction."""

_PROPOSALS = ("flag", "merge")
_REWRITES = ("retype", "template")
_LISTED = ("action", "confidence", "method", "old_type", "new_type", "reason", "model", "relation", "edge_state")


def chunks(changes: Sequence[SweepChange]) -> Iterator[list[SweepChange]]:
    """A plan's changes as chunks, edges first; what changes one memory's text stays together."""
    order = {change.memory_id: place for place, change in reversed(list(enumerate(changes)))}
    chunk: list[SweepChange] = []
    for change in sorted(changes, key=lambda one: (one.action in _REWRITES, order[one.memory_id])):
        if len(chunk) >= CHUNK and change.memory_id != chunk[-1].memory_id:
            yield chunk
            chunk = []
        chunk.append(change)
    if chunk:
        yield chunk


def chunk_of(namespace: str, sweep_id: str, changes: Sequence[SweepChange]) -> Chunk:
    """What the graph does for these changes; `rows` has one entry for each of them, in their order."""
    by_memory: dict[str, list[SweepChange]] = {}
    for change in changes:
        if change.action in _REWRITES:
            by_memory.setdefault(change.memory_id, []).append(change)
    return Chunk(
        rewrites=[
            Rewrite(uid, same[0].version, partial(rewritten, namespace, same)) for uid, same in by_memory.items()
        ],
        edges=[_edge(sweep_id, change) for change in changes if change.action == "causal_edge"],
        rows=[_row(change) for change in changes],
    )


def _edge(sweep_id: str, change: SweepChange) -> SweepEdge:
    type_ = stored_relation(str(change.relation))
    proposed = change.edge_state != "accepted"
    properties: dict[str, Any] = {
        "edge_id": change.edge_id,
        "confidence": change.confidence,
        "method": change.method,
        "source_quote": change.source_quote,
        "target_quote": change.target_quote,
        "reason": change.reason,
        "model": change.model,
        "run_id": sweep_id,
    }
    if proposed:
        properties |= {"type": type_, "state": "proposed"}
    return SweepEdge(
        source=change.memory_id,
        target=str(change.target_id),
        type=type_,
        label="PROPOSED" if proposed else type_,
        versions=_needs(change),
        properties=properties,
    )


def _row(change: SweepChange) -> ChangeRow:
    """Names and numbers only: texts stand in the memory, its revisions and its edges, and go with them."""
    properties: dict[str, Any] = {name: getattr(change, name) for name in _LISTED}
    properties["state"] = "proposed" if change.action in _PROPOSALS else "applied"
    properties["version"] = change.version + (change.action in _REWRITES)
    if change.target_id is not None:
        properties["target"] = change.target_id
    if change.edge_id is not None:
        properties |= {"source": change.memory_id, "edge_id": change.edge_id}
    return ChangeRow(change.memory_id, _needs(change), properties, change.edge_id)


def _needs(change: SweepChange) -> dict[str, int]:
    ends: Iterable[tuple[str | None, int | None]] = (
        (change.memory_id, change.version),
        (change.target_id, change.target_version),
    )
    return {uid: version for uid, version in ends if uid is not None and version is not None}
