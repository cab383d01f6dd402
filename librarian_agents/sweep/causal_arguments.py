"""The memory that a clause refers to, found by its names and words among all memories that are read together.

A clause with a ticket refers to the memory about this ticket. Any other refers to the memory that holds most of its
words, rare ones weighing more, if no other memory holds nearly as many.
"""

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, reduce
from itertools import pairwise
from operator import and_

from librarian_agents.sweep.causal_terms import MAX_CHARS, nearest_by, sentences, state, terms
from librarian_agents.sweep.causal_types import Note
from librarian_agents.sweep.sections import without_sections

ENOUGH_NOTES = 8
"""With fewer memories the rarity of words is unknown."""
_ELSEWHERE, _NOWHERE = 1.0, 0.45
"""Penalty of a memory for lacking a word of the clause: one that another memory has, one that none has."""
_WHOLE_TEXT = 0.8
"""Factor for a match whose words are not in one sentence."""
_TICKET = re.compile(r"(?<![\w-])[A-Z][A-Z0-9]*-\d+(?:-\d+)?(?![\w-])|(?<![\w#])#\d+")
_ABOUT, _BROUGHT_UP, _MENTIONED = 1.0, 0.9, 0.35
"""Shares of a ticket that a memory begins with, that its first words hold, or that it holds elsewhere."""
_OPENING = " #*>[(-"
_POINTS_ELSEWHERE = re.compile(
    r"^\W*(?:reference|see(?: also)?|refs?|where|list of|postmortem of|report of|documentation|runbook|"
    r"pattern|how we|rule|convention|exception|手順|例外|特例|ルール|規約|決まり|"
    r"fixed|resolved|done|solved|closed|参照|参考|対処済み|修正済み|対応済み|解決済み|完了)\b"
    r"|[?？]\s*$|\b(?:the )?search for the cause\b|(?:の場所|報告書|調査は|取扱説明|連絡先|一覧は)",
    re.IGNORECASE,
)
_POINTING, _UNDATED, _OPPOSITE = 0.6, 0.85, 0.4
"""Factors for a match with a memory that reports no event, is undated, or reports the opposite state.

It is undated if the speaker has a time, and opposite if it reports a defect where the clause says that something works.
"""
_SHORTEST_NAME = 5
_ROUNDED = 0.002
"""Strengths may be this much higher since their factors are rounded."""


@dataclass(frozen=True, slots=True)
class Match:
    """How well a memory fits a clause.

    `share` is the share of the clause's weight that it holds (0-1), `mass` the weight it holds, and `lead` its lead
    over the next memory (0-1).
    """

    uid: str
    share: float
    mass: float
    lead: float
    words: tuple[str, ...]
    quote: str

    @property
    def strength(self) -> float:
        """How well it fits, given how much it holds."""
        return self.share * min(1.0, self.mass)


@dataclass(frozen=True)
class ReadNote:
    """A memory as read: without its sections' headings, with its terms."""

    note: Note

    @cached_property
    def text(self) -> str:
        """The text as read."""
        return without_sections(self.note.text[:MAX_CHARS])

    @cached_property
    def sentences(self) -> list[str]:
        """Its sentences, each a literal part of it."""
        return sentences(self.text)

    @cached_property
    def terms(self) -> dict[str, float]:
        """The terms of the whole text."""
        return terms(self.text)

    @cached_property
    def sentence_terms(self) -> list[dict[str, float]]:
        """The terms of each sentence, and of each two consecutive ones."""
        alone = [terms(sentence) for sentence in self.sentences]
        return alone + [one | other for one, other in pairwise(alone)]

    @cached_property
    def places(self) -> dict[str, int]:
        """The places of each term in `sentence_terms`, as bits."""
        found: dict[str, int] = {}
        for place, part in enumerate(self.sentence_terms):
            for term in part:
                found[term] = found.get(term, 0) | 1 << place
        return found

    @cached_property
    def told(self) -> list[tuple[str, dict[str, float]]]:
        """Each sentence with its terms."""
        return list(zip(self.sentences, self.sentence_terms, strict=False))

    @cached_property
    def about(self) -> frozenset[str]:
        """The tickets at its beginning."""
        first = self.text.strip().partition("\n")[0]
        found = _TICKET.search(first[:80])
        return frozenset({found[0].lower()}) if found else frozenset()

    @cached_property
    def tickets(self) -> frozenset[str]:
        """All tickets that it names."""
        return tickets(self.text)

    @cached_property
    def points_elsewhere(self) -> bool:
        """Whether it only says where something is, asks, or reports that something is settled."""
        return bool(_POINTS_ELSEWHERE.search(self.sentences[0] if self.sentences else ""))


@lru_cache(maxsize=4_096)
def read_note(note: Note) -> ReadNote:
    """Return the note as read, cached: pages of a sweep share many notes."""
    return ReadNote(note)


def tickets(text: str) -> frozenset[str]:
    """Return the names in `text` that are unambiguous anywhere, in lower case."""
    return frozenset(found.lower() for found in _TICKET.findall(text))


@dataclass(frozen=True, slots=True)
class _Term:
    """A term of a clause: its weight by its rarity, and what a sentence without it loses.

    `lost` is lost by a memory that lacks it, `unsaid` by a sentence of a memory that holds it elsewhere.
    """

    name: str
    weight: float
    lost: float
    unsaid: float


@dataclass(frozen=True)
class _Clause:
    """A clause, read once for all memories that it may refer to.

    `terms` are all its terms, `known` those of some weight; sets of these are numbers, with the bit `1 << place` for
    each. `uids` are the memories that it names; `dated` says that its speaker has a time, and `state` is that of
    causal_terms.
    """

    text: str
    terms: Mapping[str, float]
    known: Sequence[_Term]
    tickets: frozenset[str]
    uids: frozenset[str]
    state: int
    dated: bool
    shares: dict[tuple[int, int], float] = field(default_factory=dict)
    masses: dict[int, tuple[float, tuple[str, ...]]] = field(default_factory=dict)

    def share(self, said: int, whole: int) -> float:
        """Return the share of its weight in `said`, its terms in a part of a memory that holds `whole` of them."""
        if (said, whole) not in self.shares:
            have = lack = 0.0
            for place, term in enumerate(self.known):
                if said >> place & 1:
                    have += term.weight
                else:
                    lack += term.unsaid if whole >> place & 1 else term.lost
            self.shares[said, whole] = have / (have + lack) if have else 0.0
        return self.shares[said, whole]

    def mass(self, held: int) -> tuple[float, tuple[str, ...]]:
        """Return the weight of the terms `held`, and their names, the weightiest first."""
        if held not in self.masses:
            terms = [term for place, term in enumerate(self.known) if held >> place & 1]
            terms.sort(key=lambda term: -term.weight)
            self.masses[held] = sum(term.weight for term in terms), tuple(term.name for term in terms)
        return self.masses[held]


class Memories:
    """Memories that are read together, and the rarity of words among them."""

    def __init__(self, notes: Sequence[Note]) -> None:
        self.read: Mapping[str, ReadNote] = {note.uid: read_note(note) for note in notes}
        self._holders: defaultdict[str, set[str]] = defaultdict(set)
        self._naming: defaultdict[str, set[str]] = defaultdict(set)
        self._like_names = [uid for uid in self.read if len(uid) >= _SHORTEST_NAME]
        for uid, read in self.read.items():
            for term in read.terms:
                self._holders[term].add(uid)
            for ticket in read.tickets:
                self._naming[ticket].add(uid)

    def rarity(self, term: str) -> float:
        """Return how well a term distinguishes memories, 0-1; 1 for all terms of few memories."""
        count = len(self.read)
        if count < ENOUGH_NOTES:
            return 1.0
        return math.log(1 + count / max(1, len(self._holders.get(term, ())))) / math.log(1 + count)

    def meant_by(
        self, text: str, speaker: str, possible: Callable[[Note], bool], *, awaited: bool = False
    ) -> Match | None:
        """Return the memory that a clause of the memory `speaker` refers to: the best of those `possible`, or None.

        A clause that tells what is `awaited` may refer to a memory which says that it is wanting.
        Memories are matched in the order of the strength that they can reach, until none can reach the second best.
        """
        clause = self._clause(text, speaker, awaited=awaited)
        held = self._held(clause)
        bounds = self._bounds(clause, held)
        bounds.pop(speaker, None)
        best: list[Match] = []
        for uid in sorted(bounds, key=bounds.__getitem__, reverse=True):
            least = best[1].strength if len(best) > 1 else 0.0
            if bounds[uid] < least:
                break
            other = self.read[uid]
            if possible(other.note) and (match := _match(clause, other, held.get(uid, 0), least)):
                best = sorted([*best, match], key=lambda match: (-match.strength, match.uid))[:2]
        if not best:
            return None
        first, *others = best
        next_ = others[0].strength if others else 0.0
        lead = round(1 - next_ / first.strength, 3) if first.strength else 0.0
        return replace(first, lead=lead, quote=nearest_by(self.read[first.uid].told, clause.terms))

    def _clause(self, text: str, speaker: str, *, awaited: bool) -> _Clause:
        said = terms(text)
        known = []
        for name, plain in said.items():
            if plain:
                weight, holders = plain * self.rarity(name), self._holders.get(name, ())
                others = len(holders) - (speaker in holders)
                lost, unsaid = (weight * (_ELSEWHERE if more else _NOWHERE) for more in (others > 0, others > 1))
                known.append(_Term(name, weight, lost, unsaid))
        dated = self.read[speaker].note.occurred_at is not None
        uids = frozenset(uid for uid in self._like_names if names_uid(text, uid))
        return _Clause(text, said, known, tickets(text), uids, 0 if awaited else state(text), dated)

    def _held(self, clause: _Clause) -> dict[str, int]:
        """Return the terms of a clause without a ticket that each memory holds, if any."""
        held: defaultdict[str, int] = defaultdict(int)
        for place, term in enumerate(() if clause.tickets else clause.known):
            for uid in self._holders.get(term.name, ()):
                held[uid] |= 1 << place
        return held

    def _bounds(self, clause: _Clause, held: Mapping[str, int]) -> dict[str, float]:
        """Return the strength that each memory with something of the clause can reach at most."""
        naming = (uid for ticket in clause.tickets for uid in self._naming.get(ticket, ()))
        bounds = dict.fromkeys((*clause.uids, *naming), 1.0)
        for uid, terms_ in held.items():
            reached = clause.share(terms_, 0) * min(1.0, clause.mass(terms_)[0])
            bounds.setdefault(uid, reached * _fitness(clause, self.read[uid]) + _ROUNDED)
        return bounds


def _match(clause: _Clause, other: ReadNote, held: int, least: float) -> Match | None:
    """Return how well a memory with the terms `held` fits, without a quote; None if its strength is below `least`."""
    uid = other.note.uid
    if uid in clause.uids:
        return Match(uid, _ABOUT, 3.0, 1.0, (uid,), "")
    if clause.tickets:
        shared = tuple(sorted(clause.tickets & other.tickets))
        share = _ABOUT if clause.tickets & other.about else _MENTIONED
        if share == _ABOUT and not _TICKET.match(other.text.lstrip(_OPENING)):
            share = _BROUGHT_UP
        return Match(uid, share, 3.0, 0.0, shared, "")
    best = max(clause.share(part, held) for part in _parts(clause, other, held))
    share = max(best, _WHOLE_TEXT * clause.share(held, held)) * _fitness(clause, other)
    mass, words = clause.mass(held)
    if share * min(1.0, mass) + _ROUNDED < least:
        return None
    if clause.state and clause.state * state(nearest_by(other.told, clause.terms)) < 0:
        share *= _OPPOSITE
    return Match(uid, round(share, 3), round(mass, 3), 0.0, words, "")


def _parts(clause: _Clause, other: ReadNote, held: int) -> Iterable[int]:
    """Return which of the terms `held` stand together in a part of the memory; all of them, if they do in one."""
    placed = [(1 << at, other.places.get(term.name, 0)) for at, term in enumerate(clause.known) if held >> at & 1]
    if reduce(and_, (bits for _, bits in placed), -1):
        return (held,)
    together: dict[int, int] = {0: 0}
    for term, bits in placed:
        while bits:
            place = bits & -bits
            together[place] = together.get(place, 0) | term
            bits ^= place
    return set(together.values())


def _fitness(clause: _Clause, other: ReadNote) -> float:
    """Return the factor for a memory that reports no event, or lacks a time that the speaker has."""
    undated = clause.dated and other.note.occurred_at is None
    return (_POINTING if other.points_elsewhere else 1.0) * (_UNDATED if undated else 1.0)


def names_uid(clause: str, uid: str) -> bool:
    """Return whether `clause` holds the uid as a whole word; a short uid could be any word."""
    named = len(uid) >= _SHORTEST_NAME and uid in clause
    return named and re.search(rf"(?<!\w){re.escape(uid)}(?!\w)", clause) is not None
