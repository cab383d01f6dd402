"""Proposed edges to files: memories that name a path, or something that code defines."""

from collections import Counter
from collections.abc import Sequence

from graph import sweep as graph
from graph.executor import Executor
from graph.files import Named, NamedChunk, chunks_named
from graph.sweep import Edge, SweptMemory
from graph.sweep_writes import may_draw
from graph.types import EdgeType
from librarian.items.rows import edge_id_of, stored_ends
from retrieval.mentions import Mention, mentions

FILES_PER_MEMORY = 3
"""Parts of files that a sweep proposes to connect with one memory."""

_READ_CHARS = 20_000
_QUOTE_CHARS = 4_000
# A path is rarely written by chance; a single word may match a definition's name with another meaning.
_PATH_CONFIDENCE = 0.9
_SYMBOL_CONFIDENCE = 0.8


async def file_mentions(executor: Executor, namespace: str, page: Sequence[SweptMemory]) -> list[Edge]:
    """Return proposed RELATES_TO edges between memories of a page and the parts of files that they name."""
    named = [(memory, mention) for memory in page for mention in mentions(memory.item.text[:_READ_CHARS])]
    wanted = [Named(mention.name, mention.suffix, mention.line, mention.symbol) for _, mention in named]
    edges: dict[str, Edge] = {}
    drawn: Counter[str] = Counter()
    for chunk in await chunks_named(executor, namespace, wanted):
        memory, mention = named[chunk.index]
        edge = _edge(namespace, memory, mention, chunk)
        if edge.edge_id not in edges and drawn[memory.item.uid] < FILES_PER_MEMORY:
            edges[edge.edge_id] = edge
            drawn[memory.item.uid] += 1
    known = await graph.known_pairs(executor, namespace, [(edge.memory_id, edge.target_id) for edge in edges.values()])
    return [edge for edge in edges.values() if may_draw(edge.type, known.get((edge.memory_id, edge.target_id)))]


def _edge(namespace: str, memory: SweptMemory, mention: Mention, chunk: NamedChunk) -> Edge:
    versions = {memory.item.uid: memory.item.version, chunk.uid: chunk.version}
    quotes = {memory.item.uid: mention.quote, chunk.uid: chunk.quote}
    source, target = stored_ends(memory.item.uid, EdgeType.RELATES_TO, chunk.uid)
    names = f"{mention.symbol}, which is defined there" if mention.symbol else "the file"
    return Edge(
        memory_id=source,
        version=versions[source],
        target_id=target,
        target_version=versions[target],
        edge_id=edge_id_of(namespace, source, EdgeType.RELATES_TO, target),
        type=EdgeType.RELATES_TO,
        state="proposed",
        confidence=_SYMBOL_CONFIDENCE if mention.symbol else _PATH_CONFIDENCE,
        reason=f"the memory names {names}",
        source_quote=quotes[source][:_QUOTE_CHARS],
        target_quote=quotes[target][:_QUOTE_CHARS],
    )
