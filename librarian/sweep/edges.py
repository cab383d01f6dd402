"""Connections that a sweep proposes: edges between memories with their evidence, and near-duplicates to merge."""

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from graph import sweep as graph
from graph.executor import Executor
from graph.sweep import Edge, SweptMemory
from graph.sweep_writes import may_draw
from graph.types import EdgeType, SpaceRecord
from librarian.items.rows import edge_id_of, stored_ends
from librarian.sweep.changes import Merge
from librarian.sweep.lessons import Lessons, lowered
from librarian.sweep.llm import Adviser
from librarian.sweep.mentions import file_mentions
from librarian_agents.sweep.causal import clauses_of_others, read_relations
from librarian_agents.sweep.causal_candidates import CandidatePair, candidate_pairs, words_like_uids
from librarian_agents.sweep.causal_terms import MAX_CHARS, identifiers
from librarian_agents.sweep.causal_types import Direction, Note, Verdict
from librarian_agents.sweep.duplicates import common_words, says_the_same
from retrieval.calibration import calibrated
from retrieval.lucene import memories_naming, memories_telling
from retrieval.text import language

NEIGHBOURS = 8
"""Nearest memories that are read together with a memory."""
RELATED_PER_MEMORY = 3
"""Edges without a causal claim that are planned for one memory of a page."""
CLAUSES = 6
"""Clauses of a memory that are searched among the others."""

_QUOTE_CHARS = 4_000


@dataclass(frozen=True, slots=True)
class StoredNote(Note):
    """A note as stored in the graph; `whole` says that `text` is the memory's complete text."""

    text: str = field(repr=False)
    version: int = 0
    whole: bool = True


@dataclass(slots=True)
class Relations:
    """Plans edges and merges page by page.

    It remembers the ids of planned edges, so that an edge reached from both ends is planned once; if edges are drawn
    immediately, the caller clears `planned` after each page.
    """

    executor: Executor
    namespace: str
    space: SpaceRecord | None
    adviser: Adviser | None = None
    lessons: Lessons = field(default_factory=dict)
    planned: set[str] = field(default_factory=set)

    async def plan(self, read: "ReadPage") -> list[Edge | Merge]:
        """Return the edges and merges that start at the memories of a page as `read`."""
        near = [pair for pair in read.pairs if {pair.first, pair.second} & read.own.keys()]
        found = await asyncio.to_thread(read_relations, list(read.notes.values()), near, read.own.keys())
        pairs, verdicts = [pair for pair, _ in found], [verdict for _, verdict in found]
        if self.adviser is not None:
            verdicts = await self.adviser.relations(pairs, read.notes, verdicts, read.own)
        merges = [merge for pair in pairs if (merge := _merge(pair, read))]
        merged = {frozenset((merge.memory_id, merge.target_id)) for merge in merges}
        edges = [
            self._edge(pair, verdict, read.notes)
            for pair, verdict in zip(pairs, verdicts, strict=True)
            if verdict.relation is not None and frozenset((pair.first, pair.second)) not in merged
        ]
        named = await file_mentions(self.executor, self.namespace, list(read.own.values()))
        return [*self._new([*await self._drawable(edges), *named]), *merges]

    async def read(self, page: Sequence[SweptMemory]) -> "ReadPage":
        """Return the memories of a page, possibly related memories, and the pairs to compare."""
        own = {memory.item.uid: memory for memory in page}
        texts = {uid: memory.item.text[:MAX_CHARS] for uid, memory in own.items()}
        words = {uid: words_like_uids(text) for uid, text in texts.items()}
        near, links, namesakes = await asyncio.gather(
            self._near(texts), graph.linked(self.executor, self.namespace, words), self._namesakes(texts)
        )
        others = {other for found in near.values() for other, _ in found}
        others |= {other for _, other in [*links, *namesakes]}
        read = await graph.notes(self.executor, self.namespace, sorted(others | own.keys()), MAX_CHARS, StoredNote)
        return ReadPage(own, {note.uid: note for note in read}, candidate_pairs(read, links, near))

    async def _namesakes(self, texts: Mapping[str, str]) -> list[tuple[str, str]]:
        """Return pairs of a memory and another that contains a name of it, or words of its stated cause or effect."""
        plain: list[tuple[str, str]] = []
        cjk: list[tuple[str, str]] = []
        for uid, text in texts.items():
            named = memories_naming(self.namespace, identifiers(text))
            queries = [memories_telling(self.namespace, clause) for clause in clauses_of_others(text)[:CLAUSES]]
            plain += [(uid, query) for query in [named, *(english for english, _ in queries)] if query]
            cjk += [(uid, query) for _, query in queries if query]
        found = await graph.namesakes(self.executor, self.namespace, plain)
        return found + await graph.namesakes(self.executor, self.namespace, cjk, cjk=True)

    async def _near(self, texts: Mapping[str, str]) -> dict[str, list[tuple[str, float]]]:
        """Return the nearest memories with their similarity, 0-1; none for a text that the encoder cannot read."""
        if self.space is None:
            return {}
        noise = {uid: self.space.calibrations.get(language(text)) for uid, text in texts.items()}
        readable = [uid for uid, found in noise.items() if found is not None]
        rows = await graph.neighbours(self.executor, self.namespace, readable, self.space.space, NEIGHBOURS + 1)
        near: dict[str, list[tuple[str, float]]] = {}
        for uid, other, cosine in rows:
            measured = noise[uid]
            if measured is not None:
                near.setdefault(uid, []).append((other, calibrated(cosine, measured)))
        return near

    def _edge(self, pair: CandidatePair, verdict: Verdict, notes: Mapping[str, StoredNote]) -> Edge:
        type_ = EdgeType(str(verdict.relation))
        source, target = pair.first, pair.second
        if verdict.direction is Direction.BACKWARD:
            source, target = target, source
        quotes = {source: verdict.source_quote, target: verdict.target_quote}
        source, target = stored_ends(source, type_, target)
        confidence = lowered(self.lessons, verdict.reason, verdict.confidence)
        sure = verdict.accepted or not verdict.causal
        return Edge(
            memory_id=source,
            version=notes[source].version,
            target_id=target,
            target_version=notes[target].version,
            edge_id=edge_id_of(self.namespace, source, type_, target),
            type=type_,
            state="accepted" if sure and confidence is None else "proposed",
            confidence=verdict.confidence if confidence is None else confidence,
            reason=verdict.reason,
            source_quote=quotes[source][:_QUOTE_CHARS],
            target_quote=quotes[target][:_QUOTE_CHARS],
            method=verdict.method,
            model=self.adviser.report.model if self.adviser is not None and verdict.method == "llm" else None,
        )

    async def _drawable(self, edges: Sequence[Edge]) -> list[Edge]:
        """Return the edges to draw: few without a causal claim, and none that duplicate or contradict existing ones."""
        few = _few_related(edges)
        ends = [(edge.memory_id, edge.target_id) for edge in few]
        known = await graph.known_pairs(self.executor, self.namespace, ends)
        return [edge for edge, pair in zip(few, ends, strict=True) if may_draw(edge.type, known.get(pair))]

    def _new(self, edges: Iterable[Edge]) -> list[Edge]:
        new = [edge for edge in edges if edge.edge_id not in self.planned]
        self.planned.update(edge.edge_id for edge in new)
        return new


@dataclass(frozen=True, slots=True)
class ReadPage:
    """The memories of a page, those that may be related to them, and the pairs to compare."""

    own: Mapping[str, SweptMemory]
    notes: Mapping[str, StoredNote]
    pairs: Sequence[CandidatePair]


def _few_related(edges: Sequence[Edge]) -> list[Edge]:
    """Return the surest first; of those without a causal claim, RELATED_PER_MEMORY per memory.

    Existing edges count: otherwise every sweep would draw the next ones.
    """
    related: Counter[str] = Counter()
    kept = []
    for edge in sorted(edges, key=lambda edge: -edge.confidence):
        if not edge.causal:
            related.update((edge.memory_id, edge.target_id))
            if max(related[edge.memory_id], related[edge.target_id]) > RELATED_PER_MEMORY:
                continue
        kept.append(edge)
    return kept


def _merge(pair: CandidatePair, read: ReadPage) -> Merge | None:
    """Return the merge of the shorter of two equivalent memories into the fuller one, at the shorter one."""
    fuller, shorter = sorted(
        (read.notes[pair.first], read.notes[pair.second]), key=lambda note: (-len(note.text), note.uid)
    )
    memory = read.own.get(shorter.uid)
    if memory is None or memory.reviewed or "merge" in memory.proposed:
        return None
    if not (shorter.whole and fuller.whole) or not says_the_same(shorter.text, fuller.text):
        return None
    return Merge(
        memory_id=shorter.uid,
        version=shorter.version,
        target_id=fuller.uid,
        target_version=fuller.version,
        confidence=round(common_words(shorter.text, fuller.text), 3),
        reason="both say the same; the other one is the fuller",
    )
