"""Causal edges from text: the relation of two memories with evidence from both, or nothing.

A typed edge needs a sentence of one memory that states a cause, a hindrance or a condition (causal_statements), and
another memory that an argument of it refers to (causal_arguments). A reference, a fix or a shared name is not a cause.
Without such a statement there is at most RELATES_TO, where the texts themselves are close.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cached_property, lru_cache

from librarian_agents.sweep.causal_arguments import ENOUGH_NOTES, Match, Memories, ReadNote
from librarian_agents.sweep.causal_candidates import CandidatePair
from librarian_agents.sweep.causal_links import (
    LIKELY,
    PROPOSED_FROM,
    Stated,
    Ties,
    Values,
    shared_words,
    trained_judge,
)
from librarian_agents.sweep.causal_statements import Argument, Statement, statements
from librarian_agents.sweep.causal_terms import MAX_CHARS, reading, terms
from librarian_agents.sweep.causal_types import ACCEPTED_FROM, NOTHING, Direction, Note, Relation, Verdict
from librarian_agents.sweep.sections import without_sections

RELATED_FROM = 0.6
"""Minimum calibrated similarity of related texts."""
_SUPPOSED = ACCEPTED_FROM - 0.05
_TYPED_FROM, _UNTOLD, _READ_FROM = PROPOSED_FROM, PROPOSED_FROM - 0.05, 0.3
_MOST = 0.97
_SAME_STORY = 0.6
_CLEARLY = 0.15
_ENOUGH, _FEW, _WHOLE, _MUCH, _ALONE = 1.0, 0.7, 0.95, 0.6, 0.75
_TOLD_WORDS, _NAMED = 2, 2.0
_PLAIN = 0.65
"""Minimum share of a clause in a memory.

The first value, or slightly less if the memory holds all of it and no other does. A consequence or a clause of loose
words needs more than one word, unless that is a name, since any memory may hold one; any other clause has to be told
by one word for the greater part; and a clause of loose words needs the most, and must be short.
"""
_CLEAR_SHARE, _CLEAR_LEAD = 0.5, 0.5
"""Minimum share and lead of a clause of few words, where the judge of pairs finds the edge likely."""
_NAMED_WORDS = 4
_CLAUSE_CHARS = 80
_SOON = timedelta(days=7)
"""A memory's consequences may be recorded this much later."""

_PHRASES: Mapping[Relation, str] = {
    Relation.CAUSES: "as the cause of what {effect} tells",
    Relation.BLOCKS: "as what holds up what {effect} tells",
    Relation.ENABLES: "as what made possible what {effect} tells",
}
_KINDS: Mapping[Relation, str] = {
    Relation.CAUSES: "a cause and its effect",
    Relation.BLOCKS: "a hindrance and what it holds up",
    Relation.ENABLES: "a condition and what it made possible",
}


@dataclass(frozen=True, slots=True)
class Claim:
    """A reading: `source` has `relation` to `target`.

    The `statement` of `speaker` says so, and refers to the other memory by its argument `argument`.
    """

    relation: Relation
    source: str
    target: str
    speaker: str
    argument: Argument
    statement: Statement
    match: Match
    confidence: float

    @property
    def accepted(self) -> bool:
        """Whether the statement alone is enough to write the edge."""
        return self.confidence >= ACCEPTED_FROM


@dataclass(frozen=True, slots=True)
class Way:
    """The judge's features of `cause` as the cause of `effect`, and a sentence's claim about them."""

    cause: str
    effect: str
    values: Values
    claim: Claim | None


class CausalReader:
    """Reads memories together: the causes that each states, and the memories that these refer to."""

    def __init__(self, notes: Sequence[Note]) -> None:
        self.memories = Memories(notes)
        self._claims: dict[str, list[Claim]] = {}

    @cached_property
    def ties(self) -> Ties:
        """The terms that the memories share."""
        return Ties(self.memories)

    def surest(self, speakers: Collection[str]) -> dict[tuple[str, str], Claim]:
        """Return the surest claim of the speakers about each (cause, effect)."""
        best: dict[tuple[str, str], Claim] = {}
        for speaker in sorted(speakers):
            for claim in self.claims(speaker):
                ends = claim.source, claim.target
                if ends not in best or _rank(best[ends]) < _rank(claim):
                    best[ends] = claim
        return best

    def ways(self, speakers: Collection[str] | None = None) -> Iterator[Way]:
        """Yield both directions of each pair with one of the `speakers` (default: all) that is near or stated."""
        own = self.memories.read.keys() if speakers is None else speakers
        claims = self.surest(own)
        near = {pair for pair in self.ties.pairs() if pair[0] in own or pair[1] in own}
        near |= {(min(ends), max(ends)) for ends in claims}
        for first, second in sorted(near):
            for cause, effect in ((first, second), (second, first)):
                claim, reverse = claims.get((cause, effect)), claims.get((effect, cause))
                stated = Stated(
                    sure=claim.confidence if claim else 0.0,
                    reverse=reverse.confidence if reverse else 0.0,
                    relation=claim.relation if claim else None,
                    by_effect=claim is not None and claim.speaker == effect,
                    share=claim.match.share if claim else 0.0,
                    lead=max(0.0, claim.match.lead) if claim else 0.0,
                    weak=claim is not None and claim.statement.weak,
                    supposed=claim is not None and claim.statement.supposed,
                )
                yield Way(cause, effect, self.ties.values(cause, effect, stated), claim)

    def claims(self, speaker: str) -> list[Claim]:
        """Return the claims of the memory `speaker` about others, surest first."""
        if speaker not in self._claims:
            read = self.memories.read[speaker]
            found = [claim for statement in stated(read.text) for claim in self._of(statement, read)]
            best: dict[str, Claim] = {}
            for claim in sorted(found, key=lambda claim: -claim.confidence):
                best.setdefault(claim.match.uid, claim)
            self._claims[speaker] = list(best.values())
        return self._claims[speaker]

    def verdicts(self, speakers: Collection[str]) -> dict[tuple[str, str], Verdict]:
        """Return the verdict on each pair (lower uid first) with one of the `speakers`.

        A sure claim of a sentence takes precedence, then the judge of pairs, then an unsure claim.
        """
        claims: dict[tuple[str, str], Claim] = {}
        for ends, claim in self.surest(speakers).items():
            pair = min(ends), max(ends)
            if claim.confidence >= _TYPED_FROM and (pair not in claims or _rank(claims[pair]) < _rank(claim)):
                claims[pair] = claim
        found = {pair: self.verdict(claim, pair[0]) for pair, claim in claims.items()}
        if len(self.memories.read) >= ENOUGH_NOTES:
            for pair, verdict in self._judged(speakers).items():
                if pair not in found or (verdict.accepted and not found[pair].accepted):
                    found[pair] = verdict
        return found

    def _judged(self, speakers: Collection[str]) -> dict[tuple[str, str], Verdict]:
        """Return the trained judge's verdict on each pair, in the likelier direction."""
        judge = trained_judge()
        found: dict[tuple[str, str], Verdict] = {}
        for way in self.ways(speakers):
            relation, sure = judge.verdict(way.values)
            if sure < judge.proposed:
                continue
            pair = min(way.cause, way.effect), max(way.cause, way.effect)
            confidence = judge.confidence(sure)
            verdict = self._by_judge(way, relation, confidence)
            if any(self.memories.read[uid].points_elsewhere for uid in pair):
                verdict = replace(verdict, confidence=min(confidence, _SUPPOSED))
            elif sure >= LIKELY and way.claim and clear(way.claim):
                verdict = self.verdict(replace(way.claim, confidence=max(ACCEPTED_FROM, way.claim.confidence)), pair[0])
            if pair not in found or found[pair].confidence < verdict.confidence:
                found[pair] = verdict
        return found

    def _by_judge(self, way: Way, relation: Relation, confidence: float) -> Verdict:
        told, follows = self.ties.tie(way.cause, way.effect), self.ties.tie(way.effect, way.cause)
        words = shared_words(follows, self.memories.read[way.cause])[:_NAMED_WORDS]
        both = ", ".join(f'"{word}"' for word in words)
        return Verdict(
            relation,
            Direction.FORWARD if way.cause < way.effect else Direction.BACKWARD,
            confidence,
            told.sentence,
            follows.sentence,
            reason=f"the two read like {_KINDS[relation]}: both tell of {both}{_apart(*self._notes(way))}",
        )

    def _notes(self, way: Way) -> tuple[Note, Note]:
        return self.memories.read[way.cause].note, self.memories.read[way.effect].note

    def verdict(self, claim: Claim, first: str) -> Verdict:
        """Return the claim as a verdict on `first` and the other memory."""
        spoken, other = claim.statement.sentence, claim.match.quote
        forward = claim.source == first
        quotes = (other, spoken) if claim.argument == "cause" else (spoken, other)
        return Verdict(
            claim.relation,
            Direction.FORWARD if forward else Direction.BACKWARD,
            claim.confidence,
            *quotes,
            claim.statement.cue,
            _reason(claim),
        )

    def _of(self, statement: Statement, read: ReadNote) -> Iterator[Claim]:
        readings = [reading for name in statement.told_by for reading in self._meaning(statement, name, read)]
        # Who explains a topic that another memory tells of has found its cause.
        readings.sort(key=lambda claim: (not _finds(claim), -claim.confidence))
        if readings and (len(readings) == 1 or not _either_way(*readings)):
            yield readings[0]

    def _meaning(self, statement: Statement, name: Argument, read: ReadNote) -> Iterator[Claim]:
        speaker = read.note
        forward_looking = name == "effect" and statement.relation is not Relation.CAUSES

        def possible(other: Note) -> bool:
            return forward_looking or not _later(other, speaker, _SOON if name == "effect" else timedelta(0))

        awaited = name == "cause" and statement.relation is Relation.BLOCKS
        match = self.memories.meant_by(statement.argument(name), speaker.uid, possible, awaited=awaited)
        if match is None or _same_story(statement, name, self.memories.read[match.uid]):
            return
        source, target = (match.uid, speaker.uid) if name == "cause" else (speaker.uid, match.uid)
        confidence = _confidence(statement, name, match)
        if confidence >= _READ_FROM:
            yield Claim(statement.relation, source, target, speaker.uid, name, statement, match, confidence)


def read_relations(
    notes: Sequence[Note], pairs: Sequence[CandidatePair], speakers: Collection[str]
) -> list[tuple[CandidatePair, Verdict]]:
    """Return a verdict on each of `pairs`, and on each other pair with a cause stated by one of the `speakers`.

    All notes are read together: a clause refers to the memory that fits it best.
    """
    reader = CausalReader(notes)
    known = {(pair.first, pair.second): pair for pair in pairs}
    typed = reader.verdicts(speakers)
    added = [CandidatePair(*ends, "statement") for ends in typed if ends not in known]
    found = []
    for pair in [*pairs, *added]:
        first, second = (reader.memories.read[uid].note for uid in (pair.first, pair.second))
        verdict = typed.get((pair.first, pair.second)) or _related(first, second, pair.similarity)
        found.append((pair, verdict))
    return found


def infer_relationship(first: Note, second: Note, *, similarity: float | None = None) -> Verdict:
    """Return the relation of `first` and `second`; swapping them turns the result.

    `similarity` is calibrated, 0-1.
    """
    one, two = replace(first, uid=first.uid or "\0first"), replace(second, uid=second.uid or "\0second")
    if one.uid == two.uid:
        return NOTHING
    pair = CandidatePair(min(one.uid, two.uid), max(one.uid, two.uid), "neighbour", similarity)
    ((_, found),) = read_relations([one, two], [pair], [one.uid, two.uid])
    return found if pair.first == one.uid else found.turned()


def tells_of_cause(text: str) -> bool:
    """Return whether `text` states a cause, a hindrance or a condition."""
    return bool(stated(without_sections(text[:MAX_CHARS])))


def clauses_of_others(text: str) -> list[str]:
    """Return the clauses of `text` that may refer to another memory: its stated causes and effects."""
    return [statement.argument(name) for statement in stated(without_sections(text)) for name in statement.told_by]


@lru_cache(maxsize=4096)
def stated(text: str) -> tuple[Statement, ...]:
    """Return the statements of a text, cached: a sweep meets a memory more than once."""
    return tuple(statements(text))


def _confidence(statement: Statement, name: Argument, match: Match) -> float:
    sure = 0.35 + 0.5 * match.share + 0.1 * min(1.0, match.mass / 2) + 0.15 * match.lead - 0.15 * statement.weak
    alone = match.share >= (_WHOLE if statement.weak else _MUCH) and match.lead >= _ALONE
    told = match.mass >= _ENOUGH or (alone and match.mass >= _FEW)
    one_word = len(match.words) < _TOLD_WORDS and match.mass < _NAMED
    if one_word and (name == "effect" or statement.weak or match.share < _MUCH):
        told = False
    if statement.weak and (match.share < _PLAIN or len(statement.argument(name)) > _CLAUSE_CHARS):
        told = False
    if not told:
        sure = min(sure, _UNTOLD if statement.weak else _SUPPOSED)
    return round(min(sure, _SUPPOSED if statement.supposed or statement.hint else _MOST), 2)


def clear(claim: Claim) -> bool:
    """Return whether a sentence states a cause and refers to the other memory, though by few words."""
    statement, match = claim.statement, claim.match
    if statement.hint or statement.supposed or match.share < _CLEAR_SHARE or match.lead < _CLEAR_LEAD:
        return False
    return match.mass >= _FEW and (claim.argument == "cause" or len(match.words) >= _TOLD_WORDS)


def _rank(claim: Claim) -> tuple[float, str, str]:
    """Sort the surest last; ties do not depend on the reading order."""
    return claim.confidence, claim.statement.sentence, claim.statement.cue


def _finds(claim: Claim) -> bool:
    """Return whether a memory explains what the other tells, in a sentence with this as its topic."""
    return claim.statement.form == "topic" and claim.argument == "effect" and claim.accepted


def _either_way(surer: Claim, other: Claim) -> bool:
    """Return whether both arguments of a statement refer to the same memory, so that it may be either end."""
    return surer.match.uid == other.match.uid and surer.confidence - other.confidence < _CLEARLY


def _later(other: Note, speaker: Note, grace: timedelta) -> bool:
    """Return whether `other` happened more than `grace` after `speaker` spoke, so that it cannot be the referent."""
    if other.occurred_at is None or speaker.occurred_at is None:
        return False
    return other.occurred_at > speaker.occurred_at + grace


def _same_story(statement: Statement, name: Argument, other: ReadNote) -> bool:
    """Return whether the other memory states the same: two versions of one story are not cause and effect."""
    clause = terms(statement.argument(name))
    for own in (own for own in stated(other.text) if not own.weak):
        said = terms(own.argument(name))
        shared = sum(weight for term, weight in clause.items() if term in said)
        if shared >= _SAME_STORY * sum(clause.values()) > 0:
            return True
    return False


def _apart(cause: Note, effect: Note) -> str:
    """Describe how much later the effect is recorded."""
    if cause.occurred_at is None or effect.occurred_at is None:
        return ""
    days = (effect.occurred_at - cause.occurred_at).days
    if cause.occurred_at > effect.occurred_at:
        return ", and what explains it was found out afterwards"
    return ", within a day" if days < 1 else f", {days} day{'s' if days > 1 else ''} apart"


def _reason(claim: Claim) -> str:
    clause = claim.statement.argument(claim.argument)
    words = clause if len(clause) <= _CLAUSE_CHARS else f"{clause[:_CLAUSE_CHARS].rstrip()}…"
    effect = "it" if claim.argument == "cause" else "the other"
    named = "the other" if claim.argument == "cause" else "itself"
    said = _PHRASES[claim.relation].format(effect=effect)
    reason = f'with "{claim.statement.cue}" it names {named} ("{words}") {said}'
    return f"{reason}, but only supposes it" if claim.statement.supposed else reason


def _related(first: Note, second: Note, similarity: float | None) -> Verdict:
    if first.text == second.text or similarity is None or similarity < RELATED_FROM:
        return NOTHING
    one, two = reading(first.text), reading(second.text)
    names = one.references & two.references
    quotes = one.nearest_sentence(two.stems), two.nearest_sentence(one.stems)
    shared = f", both name {', '.join(sorted(names)[:3])}" if names else ""
    reason = f"the texts are close ({similarity:.2f}){shared}"
    return Verdict(Relation.RELATES_TO, Direction.NONE, round(similarity, 2), *quotes, reason=reason)
