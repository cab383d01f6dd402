"""Grouping of planned changes into the chunks that the graph writes together."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from graph.facts import Succession
from graph.item import NewItem
from graph.sweep import Chunk, Edge, Rewrite
from librarian.sweep.changes import Change, Merge, Retype, Rewriting, Template, recorded
from librarian.sweep.texts import rewritten

CHUNK = 100
"""Memories whose changes form one transaction."""


def chunks(changes: Sequence[Change]) -> Iterator[list[Change]]:
    """Yield a plan's changes as chunks, edges first; changes of one memory's text stay together."""
    order = {change.memory_id: index for index, change in reversed(list(enumerate(changes)))}
    chunk: list[Change] = []
    for change in sorted(changes, key=lambda change: (isinstance(change, Retype | Template), order[change.memory_id])):
        if len(chunk) >= CHUNK and change.memory_id != chunk[-1].memory_id:
            yield chunk
            chunk = []
        chunk.append(change)
    if chunk:
        yield chunk


def chunk_of(changes: Sequence[Change], facts: Mapping[str, NewItem], successions: Sequence[Succession]) -> Chunk:
    """Return the graph's chunk for these changes; `rows` has one entry per change, in order.

    `facts` holds the facts to store, by uid, `successions` the values that they may replace.
    """
    by_memory: dict[str, list[Rewriting]] = {}
    for change in changes:
        if isinstance(change, Retype | Template):
            by_memory.setdefault(change.memory_id, []).append(change)
    return Chunk(
        rewrites=[Rewrite(uid, same[0].version, partial(rewritten, same)) for uid, same in by_memory.items()],
        edges=[change for change in changes if isinstance(change, Edge)],
        facts=facts,
        successions=successions,
        rows=[recorded(change) for change in changes],
        needs=[needs_of(change) for change in changes],
    )


def needs_of(change: Change) -> dict[str, int]:
    """Return the versions of the memories on which the change was planned."""
    return change.needs if isinstance(change, Edge | Merge) else {change.memory_id: change.version}
