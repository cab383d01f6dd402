"""What a sweep proposes to connect with files: memories that name a path, or something that code defines."""

from collections.abc import Sequence

from graph import sweep as graph
from graph.executor import Executor
from graph.mentions import Named, NamedChunk, chunks_named
from graph.sweep import SweptMemory
from graph.sweep_writes import may_draw
from librarian.contracts.sweeps import SweepChange
from librarian.rows import edge_id_of, stored_ends
from retrieval.mentions import Mention, mentions

FILES_PER_MEMORY = 3
"""Parts of files that a sweep proposes to connect with one memory."""

_RELATES_TO = "RELATES_TO"
_READ_CHARS = 20_000
_QUOTE_CHARS = 4_000
# A path is hardly written by chance; one word may be a definition's name and mean something else.
_PATH_CONFIDENCE = 0.9
_SYMBOL_CONFIDENCE = 0.8


async def file_mentions(executor: Executor, namespace: str, page: Sequence[SweptMemory]) -> list[SweepChange]:
    """Proposed RELATES_TO edges between memories of a page and the parts of files that they name."""
    asked = [(memory, one) for memory in page for one in mentions(memory.properties["text"][:_READ_CHARS])]
    wanted = [Named(one.name, one.suffix, one.line, one.symbol) for _, one in asked]
    changes: dict[str, SweepChange] = {}
    drawn: dict[str, int] = {}
    for chunk in await chunks_named(executor, namespace, wanted):
        memory, mention = asked[chunk.place]
        change = _change(namespace, memory, mention, chunk)
        if str(change.edge_id) not in changes and drawn.get(memory.uid, 0) < FILES_PER_MEMORY:
            changes[str(change.edge_id)] = change
            drawn[memory.uid] = drawn.get(memory.uid, 0) + 1
    ends = {change.edge_id: (change.memory_id, str(change.target_id)) for change in changes.values()}
    known = await graph.known_pairs(executor, namespace, list(ends.values()))
    return [change for change in changes.values() if may_draw(_RELATES_TO, known.get(ends[change.edge_id]))]


def _change(namespace: str, memory: SweptMemory, mention: Mention, chunk: NamedChunk) -> SweepChange:
    versions = {memory.uid: memory.version, chunk.uid: chunk.version}
    quotes = {memory.uid: mention.quote, chunk.uid: chunk.quote}
    source, target = stored_ends(memory.uid, _RELATES_TO, chunk.uid)
    said = (
        f"the memory names {mention.symbol}, which is defined there" if mention.symbol else "the memory names the file"
    )
    return SweepChange(
        memory_id=source,
        action="causal_edge",
        version=versions[source],
        target_id=target,
        target_version=versions[target],
        relation="RelatesTo",
        edge_id=edge_id_of(namespace, source, _RELATES_TO, target),
        edge_state="proposed",
        confidence=_SYMBOL_CONFIDENCE if mention.symbol else _PATH_CONFIDENCE,
        method="rule",
        source_quote=quotes[source][:_QUOTE_CHARS],
        target_quote=quotes[target][:_QUOTE_CHARS],
        reason=said,
    )
