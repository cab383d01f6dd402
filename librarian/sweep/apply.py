"""From planned changes to the graph's: what is written together, and what the run's list of changes says of it."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from graph.sweep import ChangeRow, Chunk, Rewrite, SweepEdge
from librarian.sweep.changes import Change, Edge, Flag, Merge, Retype, Rewriting, Template, to_wire
from librarian.sweep.texts import rewritten

CHUNK = 100
"""Memories whose changes are one transaction."""

_LISTED = ("action", "confidence", "method", "new_type", "reason", "model", "relation", "edge_state")


def chunks(changes: Sequence[Change]) -> Iterator[list[Change]]:
    """Yield a plan's changes as chunks, edges first; what changes one memory's text stays together."""
    order = {change.memory_id: index for index, change in reversed(list(enumerate(changes)))}
    chunk: list[Change] = []
    for change in sorted(changes, key=lambda change: (isinstance(change, Retype | Template), order[change.memory_id])):
        if len(chunk) >= CHUNK and change.memory_id != chunk[-1].memory_id:
            yield chunk
            chunk = []
        chunk.append(change)
    if chunk:
        yield chunk


def chunk_of(sweep_id: str, changes: Sequence[Change]) -> Chunk:
    """Return what the graph does for these changes; `rows` has one entry for each of them, in their order."""
    by_memory: dict[str, list[Rewriting]] = {}
    for change in changes:
        if isinstance(change, Retype | Template):
            by_memory.setdefault(change.memory_id, []).append(change)
    return Chunk(
        rewrites=[Rewrite(uid, same[0].version, partial(rewritten, same)) for uid, same in by_memory.items()],
        edges=[_edge(sweep_id, change) for change in changes if isinstance(change, Edge)],
        rows=[_row(change) for change in changes],
    )


def _edge(sweep_id: str, edge: Edge) -> SweepEdge:
    properties: dict[str, Any] = {
        "edge_id": edge.edge_id,
        "confidence": edge.confidence,
        "method": edge.method,
        "source_quote": edge.source_quote,
        "target_quote": edge.target_quote,
        "reason": edge.reason,
        "model": edge.model,
        "run_id": sweep_id,
    }
    if edge.state == "proposed":
        properties |= {"type": edge.type, "state": "proposed"}
    return SweepEdge(
        source=edge.memory_id,
        target=edge.target_id,
        type=edge.type,
        label="PROPOSED" if edge.state == "proposed" else edge.type,
        versions=_needs(edge),
        properties=properties,
    )


def _row(change: Change) -> ChangeRow:
    """Names and numbers only: texts stand in the memory, its revisions and its edges, and go with them."""
    wire = to_wire(change)
    properties: dict[str, Any] = {name: getattr(wire, name) for name in _LISTED}
    properties["old_type"] = change.old_type if isinstance(change, Retype | Flag) else None
    properties["state"] = "proposed" if isinstance(change, Flag | Merge) else "applied"
    properties["version"] = change.version + isinstance(change, Retype | Template)
    if isinstance(change, Edge | Merge):
        properties["target"] = change.target_id
    if not isinstance(change, Edge):
        return ChangeRow(change.memory_id, _needs(change), properties)
    properties |= {"source": change.memory_id, "edge_id": change.edge_id}
    return ChangeRow(change.memory_id, _needs(change), properties, change.edge_id)


def _needs(change: Change) -> dict[str, int]:
    """Return the versions of the memories that the change was planned on."""
    needs = {change.memory_id: change.version}
    if isinstance(change, Edge | Merge):
        needs[change.target_id] = change.target_version
    return needs
