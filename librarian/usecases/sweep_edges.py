"""What a sweep would connect: edges between memories with their evidence, and near-duplicates to merge."""

import asyncio
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from agents.causal import infer_relationship
from agents.causal_candidates import CandidatePair, candidate_pairs
from agents.causal_terms import MAX_CHARS, identifiers
from agents.causal_types import Direction, Note, Verdict
from agents.losses import losses
from graph import sweep as graph
from graph.executor import Executor
from graph.sweep import NoteText, SweptMemory
from graph.sweep_writes import may_draw
from graph.tokens import required_clause
from graph.types import Kind, SpaceRecord
from librarian.contracts.sweeps import Relation, SweepChange
from librarian.rows import edge_id_of, stored_ends
from librarian.usecases.sweep_llm import Adviser
from librarian.usecases.sweep_mentions import file_mentions
from retrieval.calibration import calibrated
from retrieval.text import language

NEIGHBOURS = 8
"""Memories nearest to one that are read together with it."""
RELATED_PER_MEMORY = 3
"""Edges without a claim of cause that are planned for one memory of a page."""
NEAR_DUPLICATE = 0.8
"""Share of their words that two memories have in common when they say the same."""

_SPELT: Mapping[str, Relation] = {
    "CAUSES": "Causes",
    "BLOCKS": "Blocks",
    "ENABLES": "Enables",
    "RELATES_TO": "RelatesTo",
}
_STORED: Mapping[str, str] = {spelt: stored for stored, spelt in _SPELT.items()}
_MOST_NAMES = 8
_MOST_WORDS = 50
_FEWEST_WORDS = 5
_WORD = re.compile(r"\w+")
_LIKE_A_UID = re.compile(r"(?=\S*[\d_:-])[^\s/\\\"'`()\[\]<>,;]{3,200}")
# What may differ in the wording of one statement, but not in what it says.
_TOLD = frozenset({"number", "negation", "url", "path", "code"})


def stored_relation(relation: str) -> str:
    """The graph's name of a relation as reports spell it."""
    return _STORED[relation]


@dataclass(slots=True)
class Relations:
    """Plans edges and merges page by page. It remembers the ids of the edges it has planned, so that an edge that both
    of its ends lead to is planned once; where they are drawn at once, the caller clears `planned` after each page.
    """

    executor: Executor
    namespace: str
    space: SpaceRecord | None
    adviser: Adviser | None = None
    planned: set[str] = field(default_factory=set)

    async def plan(self, page: Sequence[SweptMemory]) -> list[SweepChange]:
        """The edges and merges that begin at the memories of a page."""
        read = await self._read(page)
        pairs = [one for one in read.pairs if {one.first, one.second} & read.own.keys()]
        verdicts = await asyncio.to_thread(_verdicts, pairs, read.notes)
        if self.adviser is not None:
            texts = {uid: _note(note) for uid, note in read.notes.items()}
            verdicts = await self.adviser.relations(pairs, texts, verdicts, read.own)
        merges = [change for one in pairs if (change := _merge(one, read))]
        merged = {frozenset((one.memory_id, str(one.target_id))) for one in merges}
        edges = [
            self._edge(one, verdict, read.notes)
            for one, verdict in zip(pairs, verdicts, strict=True)
            if verdict.relation is not None and frozenset((one.first, one.second)) not in merged
        ]
        named = await file_mentions(self.executor, self.namespace, page)
        return [*self._new([*await self._drawable(edges), *named]), *merges]

    async def _read(self, page: Sequence[SweptMemory]) -> "_Read":
        """The memories of a page, those that they may have to do with, and the pairs to compare."""
        own = {memory.uid: memory for memory in page}
        texts = {uid: memory.properties["text"][:MAX_CHARS] for uid, memory in own.items()}
        near = await self._near(texts)
        links = await graph.linked(self.executor, self.namespace, {uid: _uids_in(text) for uid, text in texts.items()})
        queries = {uid: query for uid, text in texts.items() if (query := _names_query(self.namespace, text))}
        named = await graph.namesakes(self.executor, self.namespace, queries)
        others = {other for found in near.values() for other, _ in found}
        others |= {other for _, other in [*links, *named]}
        read = await graph.notes(self.executor, self.namespace, sorted(others | own.keys()), MAX_CHARS)
        notes = {note.uid: note for note in read}
        pairs = candidate_pairs([_note(note) for note in read], links, near)
        return _Read(own, notes, pairs)

    async def _near(self, texts: Mapping[str, str]) -> dict[str, list[tuple[str, float]]]:
        """The nearest memories with their similarity, 0-1; none of a text that the encoder cannot read."""
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

    def _edge(self, pair: CandidatePair, verdict: Verdict, notes: Mapping[str, NoteText]) -> SweepChange:
        relation = str(verdict.relation)
        source, target = pair.first, pair.second
        if verdict.direction is Direction.BACKWARD:
            source, target = target, source
        quotes = {source: verdict.source_quote, target: verdict.target_quote}
        source, target = stored_ends(source, relation, target)
        accepted = verdict.accepted or not verdict.causal
        return SweepChange(
            memory_id=source,
            action="causal_edge",
            version=notes[source].version,
            target_id=target,
            target_version=notes[target].version,
            relation=_SPELT[relation],
            edge_id=edge_id_of(self.namespace, source, relation, target),
            edge_state="accepted" if accepted else "proposed",
            confidence=verdict.confidence,
            method=verdict.method,
            source_quote=quotes[source][:4000],
            target_quote=quotes[target][:4000],
            reason=verdict.reason,
            model=self.adviser.told.model if self.adviser is not None and verdict.method == "llm" else None,
        )

    async def _drawable(self, edges: Sequence[SweepChange]) -> list[SweepChange]:
        """With few that claim no cause, and without those that double or contradict what is there."""
        few = _few_related(edges)
        ends = [(edge.memory_id, str(edge.target_id)) for edge in few]
        known = await graph.known_pairs(self.executor, self.namespace, ends)
        return [edge for edge, pair in zip(few, ends, strict=True) if may_draw(_type_of(edge), known.get(pair))]

    def _new(self, edges: Iterable[SweepChange]) -> list[SweepChange]:
        new = [edge for edge in edges if edge.edge_id not in self.planned]
        self.planned.update(str(edge.edge_id) for edge in new)
        return new


@dataclass(frozen=True, slots=True)
class _Read:
    own: Mapping[str, SweptMemory]
    notes: Mapping[str, NoteText]
    pairs: Sequence[CandidatePair]


def _few_related(edges: Sequence[SweepChange]) -> list[SweepChange]:
    """The surest first, of those that claim no cause RELATED_PER_MEMORY for each memory. Edges that are there already
    count: else every sweep would draw the next ones.
    """
    related: Counter[str] = Counter()
    kept = []
    for edge in sorted(edges, key=lambda one: -(one.confidence or 0.0)):
        if edge.relation == "RelatesTo":
            related.update((edge.memory_id, str(edge.target_id)))
            if max(related[edge.memory_id], related[str(edge.target_id)]) > RELATED_PER_MEMORY:
                continue
        kept.append(edge)
    return kept


def _verdicts(pairs: Sequence[CandidatePair], notes: Mapping[str, NoteText]) -> list[Verdict]:
    return [
        infer_relationship(_note(notes[one.first]), _note(notes[one.second]), similarity=one.similarity)
        for one in pairs
    ]


def _merge(pair: CandidatePair, read: _Read) -> SweepChange | None:
    """The shorter of two memories that say the same, to be merged into the fuller one; planned at the shorter."""
    fuller, shorter = sorted(
        (read.notes[pair.first], read.notes[pair.second]), key=lambda note: (-len(note.text), note.uid)
    )
    memory = read.own.get(shorter.uid)
    if memory is None or memory.reviewed or "merge" in memory.proposed or not says_the_same(shorter, fuller):
        return None
    return SweepChange(
        memory_id=shorter.uid,
        action="merge",
        version=shorter.version,
        target_id=fuller.uid,
        target_version=fuller.version,
        confidence=round(_common(shorter.text, fuller.text), 3),
        reason="both say the same; the other one is the fuller",
    )


def says_the_same(shorter: NoteText, fuller: NoteText) -> bool:
    """Whether two memories are near-duplicates, and the fuller one tells every number, name and negation of the other's
    that counts.
    """
    if not (shorter.whole and fuller.whole) or _common(shorter.text, fuller.text) < NEAR_DUPLICATE:
        return False
    return not any(loss.kind in _TOLD for loss in losses(shorter.text, fuller.text))


def _common(one: str, other: str) -> float:
    """The share of the words of either text that both have; 0 for texts too short to tell."""
    first, second = (set(_WORD.findall(text.casefold())) for text in (one, other))
    if one != other and min(len(first), len(second)) < _FEWEST_WORDS:
        return 0.0
    return len(first & second) / max(1, len(first | second))


def _uids_in(text: str) -> list[str]:
    return list(dict.fromkeys(word.rstrip(".:!?") for word in _LIKE_A_UID.findall(text)))[:_MOST_WORDS]


def _names_query(namespace: str, text: str) -> str | None:
    """Lucene's words for the longest names in a text; None where it names nothing."""
    names = sorted(identifiers(text), key=lambda name: (-len(name), name))[:_MOST_NAMES]
    phrases = [" ".join(_WORD.findall(name)) for name in names]
    alternatives = " ".join(f'"{phrase}"' for phrase in phrases if phrase)
    if not alternatives:
        return None
    return f"{required_clause(namespace, [Kind.MEMORY.value], None)} +(search_text:({alternatives}))"


def _type_of(edge: SweepChange) -> str:
    return stored_relation(cast("str", edge.relation))


def _note(read: NoteText) -> Note:
    return Note(read.text, read.uid, read.occurred_at)
