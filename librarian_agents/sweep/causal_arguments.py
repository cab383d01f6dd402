"""The memory that a clause refers to, found by its names and words among all memories that are read together.

A clause with a ticket refers to the memory about this ticket. Any other refers to the memory that holds most of its
words, rare ones weighing more, if no other memory holds nearly as many.
"""

import math
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import pairwise

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
_ABOUT, _MENTIONED = 1.0, 0.35
_POINTS_ELSEWHERE = re.compile(
    r"^\W*(?:reference|see(?: also)?|refs?|where|list of|postmortem of|report of|documentation|runbook|"
    r"pattern|how we|rule|convention|exception|手順|例外|特例|ルール|規約|決まり|"
    r"fixed|resolved|done|solved|closed|参照|参考|対処済み|修正済み|対応済み|解決済み|完了)\b"
    r"|[?？]\s*$|\b(?:the )?search for the cause\b|(?:の場所|報告書|調査は|取扱説明|連絡先|一覧は)",
    re.IGNORECASE,
)
_POINTING, _UNDATED, _OPPOSITE = 0.6, 0.85, 0.7
"""Factors for a match with a memory that reports no event, is undated, or reports the opposite state.

It is undated if the speaker has a time, and opposite if it reports a defect where the clause says that something works.
"""


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
class _Clause:
    """A clause of the memory `speaker`, read once for all memories that it may refer to.

    `weights` are the weights of its terms by their rarity, without terms of no weight; `state` is that of causal_terms.
    """

    text: str
    speaker: str
    terms: Mapping[str, float]
    weights: Mapping[str, float]
    tickets: frozenset[str]
    state: int


class Memories:
    """Memories that are read together, and the rarity of words among them."""

    def __init__(self, notes: Sequence[Note]) -> None:
        self.read: Mapping[str, ReadNote] = {note.uid: read_note(note) for note in notes}
        self._holders: defaultdict[str, set[str]] = defaultdict(set)
        for uid, read in self.read.items():
            for term in read.terms:
                self._holders[term].add(uid)

    def rarity(self, term: str) -> float:
        """Return how well a term distinguishes memories, 0-1; 1 for all terms of few memories."""
        count = len(self.read)
        if count < ENOUGH_NOTES:
            return 1.0
        return math.log(1 + count / max(1, len(self._holders.get(term, ())))) / math.log(1 + count)

    def meant_by(self, clause: str, speaker: str, possible: Callable[[Note], bool]) -> list[Match]:
        """Return the memories that `clause` of the memory `speaker` may refer to, best first, of those `possible`."""
        read = self._clause(clause, speaker)
        likely = (self.read[uid] for uid in self._candidates(read))
        matches = (self._match(read, other) for other in likely if possible(other.note))
        found = [match for match in matches if match is not None]
        found.sort(key=lambda match: (-match.strength, match.uid))
        return [_leading(match, found) for match in found[:3]]

    def _clause(self, text: str, speaker: str) -> _Clause:
        said = terms(text)
        weights = {term: weight * self.rarity(term) for term, weight in said.items() if weight}
        return _Clause(text, speaker, said, weights, tickets(text), state(text))

    def _candidates(self, clause: _Clause) -> list[str]:
        found: set[str] = set()
        for term in clause.weights:
            found |= self._holders.get(term, set())
        found.update(uid for uid, read in self.read.items() if clause.tickets & read.tickets)
        found.update(uid for uid in self.read if names_uid(clause.text, uid))
        return sorted(found - {clause.speaker})

    def _match(self, clause: _Clause, other: ReadNote) -> Match | None:
        uid = other.note.uid
        if names_uid(clause.text, uid):
            return Match(uid, _ABOUT, 3.0, 1.0, (uid,), nearest_by(other.told, clause.terms))
        if clause.tickets:
            shared = tuple(sorted(clause.tickets & other.tickets))
            share = _ABOUT if clause.tickets & other.about else _MENTIONED
            return Match(uid, share, 3.0, 0.0, shared, nearest_by(other.told, clause.terms)) if shared else None
        words = tuple(
            sorted((term for term in clause.weights if term in other.terms), key=lambda term: -clause.weights[term])
        )
        if not words:
            return None
        quote = nearest_by(other.told, clause.terms)
        whole = self._share(clause, other.terms, uid)
        best = max((self._share(clause, part, uid) for part in other.sentence_terms), default=0.0)
        share = max(best, _WHOLE_TEXT * whole)
        if other.points_elsewhere:
            share *= _POINTING
        if other.note.occurred_at is None and self.read[clause.speaker].note.occurred_at is not None:
            share *= _UNDATED
        if clause.state * state(quote) < 0:
            share *= _OPPOSITE
        mass = sum(clause.weights[term] for term in words)
        return Match(uid, round(share, 3), round(mass, 3), 0.0, words, quote)

    def _share(self, clause: _Clause, held: Mapping[str, float], uid: str) -> float:
        have = sum(weight for term, weight in clause.weights.items() if term in held)
        lack = sum(
            weight * (_ELSEWHERE if self._is_elsewhere(term, clause.speaker, uid) else _NOWHERE)
            for term, weight in clause.weights.items()
            if term not in held
        )
        return have / (have + lack) if have else 0.0

    def _is_elsewhere(self, term: str, speaker: str, uid: str) -> bool:
        holders = self._holders.get(term, ())
        return len(holders) > (speaker in holders) + (uid in holders)


def _leading(match: Match, found: Sequence[Match]) -> Match:
    others = max((other.strength for other in found if other is not match), default=0.0)
    return replace(match, lead=round(1 - others / match.strength, 3) if match.strength else 0.0)


_SHORTEST_NAME = 5


def names_uid(clause: str, uid: str) -> bool:
    """Return whether `clause` holds the uid as a whole word; a short uid could be any word."""
    named = len(uid) >= _SHORTEST_NAME and uid in clause
    return named and re.search(rf"(?<!\w){re.escape(uid)}(?!\w)", clause) is not None
