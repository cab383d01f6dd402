"""Reads what two memories say of each other: a named reference, a beginning that points back, labels of one story."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from agents.causal_cues import CueHit, hypothetical, negated
from agents.causal_forms import label, opening, tells
from agents.causal_terms import Link, Reading, link, nearest_sentence, references, sentences, stems
from agents.causal_types import Direction, Relation

# A clause paraphrases a sentence that has this many of its words, and this share of them.
_PARAPHRASED_WORDS, _PARAPHRASED = 3, 0.6
# Where the other text has as much of the clause that is not about it, both tell the same story.
_SAME_STORY = 0.4
# A label at the head of a page names its first section, not the whole.
_LONG = 600
_SHORTEST_NAME = 5
_WORD = re.compile(r"\w")
_CAUSE_ROLES = frozenset({"cause", "problem"})
_EFFECT_ROLES = frozenset({"effect", "remedy", "blocks", "enables"})


@dataclass(frozen=True, slots=True)
class Claim:
    """One reading: the first text's part and the second's are ends of `relation`, as `cue` says.

    `points_back` is the end whose text speaks of the other, which therefore cannot be the older one.
    """

    kind: str
    relation: Relation
    direction: Direction
    cue: str
    source_quote: str
    target_quote: str
    features: dict[str, float] = field(default_factory=dict)
    hypothetical: bool = False
    points_back: Direction = Direction.NONE


def claims(first: Reading, second: Reading, first_name: str = "", second_name: str = "") -> Iterator[Claim]:
    """Every reading of two memories; the names are their uids, where texts may quote them."""
    tie = link(first, second)
    yield from _one_way(first, second, second_name, tie)
    for claim in _one_way(second, first, first_name, tie):
        yield replace(claim, direction=claim.direction.turned(), points_back=claim.points_back.turned())


def _one_way(speaker: Reading, other: Reading, other_name: str, tie: Link) -> Iterator[Claim]:
    """Readings in which `speaker`, taken as the first text, is the one that speaks, or the effect."""
    yield from _references(speaker, other, other_name, tie)
    if tie.any:
        yield from _openings(speaker, other, tie)
        yield from _labels(other, speaker, tie)


def _references(speaker: Reading, other: Reading, name: str, tie: Link) -> Iterator[Claim]:
    for sentence, hits in speaker.told:
        for place, hit in enumerate(hits):
            if negated(sentence, hit):
                continue
            cause, effect = _clauses(sentence, hits, place)
            meant = _means(cause, other, name), _means(effect, other, name)
            own = effect if meant[0] else cause
            # "Caused by X." speaks of the sentence before it.
            speaks = _WORD.search(own) or not speaker.text.startswith(sentence)
            if bool(meant[0]) != bool(meant[1]) and speaks and not _same_story(own, hit, meant, other):
                yield _reference(sentence, hit, cause if meant[0] else effect, meant, other, tie)


def _same_story(own: str, hit: CueHit, meant: tuple[str, str], other: Reading) -> bool:
    """Whether the other text tells the whole itself: the clause that is not about it, or, in like words, the cue."""
    if _overlap(own, other) >= _SAME_STORY:
        return True
    cued = {found.words.lower() for _, hits in other.told for found in hits}
    return "paraphrase" in meant and hit.words.lower() in cued


def _reference(sentence: str, hit: CueHit, clause: str, meant: tuple[str, str], other: Reading, tie: Link) -> Claim:
    """The claim of a `sentence` whose `clause` means the other text, as its cause or as its effect."""
    kind = meant[0] or meant[1]
    quote = nearest_sentence(other.text, stems(clause))
    return Claim(
        kind,
        hit.cue.relation,
        Direction.BACKWARD if meant[0] else Direction.FORWARD,
        hit.words,
        *((quote, sentence) if meant[0] else (sentence, quote)),
        _features(kind, tie, cue=hit.cue.name),
        hypothetical(sentence, hit),
        Direction.FORWARD,
    )


def _clauses(sentence: str, hits: Sequence[CueHit], place: int) -> tuple[str, str]:
    """The clause of the cause and the one of the effect, each up to the next cue."""
    hit = hits[place]
    start = hits[place - 1].end if place else 0
    end = hits[place + 1].start if place + 1 < len(hits) else len(sentence)
    before, behind = sentence[start : hit.start], sentence[hit.end : end]
    if hit.cue.opens and not stems(before):
        behind, _, before = behind.partition(",")
    return (behind, before) if hit.cue.cause_follows else (before, behind)


def _means(clause: str, other: Reading, name: str) -> str:
    """How `clause` speaks of `other`: by reference (its uid, what its first line names), by paraphrase of one of its
    sentences, or not at all: an empty string.
    """
    if _holds(clause, name) or references(clause) & other.subject:
        return "reference"
    overlap = _overlap(clause, other)
    return "paraphrase" if overlap >= _PARAPHRASED and overlap * len(stems(clause)) >= _PARAPHRASED_WORDS else ""


def _holds(clause: str, name: str) -> bool:
    """Whether `clause` holds the uid as a whole word; a short one may be any word."""
    named = len(name) >= _SHORTEST_NAME and name in clause
    return named and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", clause) is not None


def _overlap(clause: str, other: Reading) -> float:
    """The share of the words of `clause` that one sentence of `other` holds."""
    said = stems(clause)
    return max((len(said & told) / len(said) for told in other.sentence_stems), default=0.0) if said else 0.0


def _openings(speaker: Reading, other: Reading, tie: Link) -> Iterator[Claim]:
    relation, words = opening(speaker.text)
    if relation is None or not tie.more_than_a_word:
        return
    first = sentences(speaker.text)[0]
    yield Claim(
        "opening",
        relation,
        Direction.BACKWARD,
        words,
        nearest_sentence(other.text, speaker.stems),
        first,
        _features("opening", tie),
        points_back=Direction.FORWARD,
    )


def _labels(cause: Reading, effect: Reading, tie: Link) -> Iterator[Claim]:
    """The label of either text makes `cause` the cause of `effect`, which is the first text."""
    (cause_role, cause_label), (effect_role, effect_label) = label(cause.text), label(effect.text)
    if not _fit(cause_role, effect_role) or (effect_role == "remedy" and not _answers(cause, cause_role, tie)):
        return
    named = effect_label if effect_role in _EFFECT_ROLES else cause_label
    features = _features("labels", tie) | {
        f"cause is {cause_role or 'unlabelled'}": 1.0,
        f"effect is {effect_role or 'unlabelled'}": 1.0,
        "trouble": min(tells(cause.text, "trouble"), 3) / 3,
        "remedy": min(tells(effect.text, "remedy"), 3) / 3,
        "long": float(max(len(cause.text), len(effect.text)) > _LONG),
    }
    yield Claim(
        "labels",
        _relation_of_labels(cause_role, effect_role, effect.text),
        Direction.BACKWARD,
        named,
        nearest_sentence(cause.text, effect.stems),
        nearest_sentence(effect.text, cause.stems),
        features,
        points_back=Direction.FORWARD if effect_role in _EFFECT_ROLES else Direction.NONE,
    )


def _fit(cause: str, effect: str) -> bool:
    if effect in _EFFECT_ROLES:
        return cause in _CAUSE_ROLES or cause == "" or (cause == "remedy" and effect != "remedy")
    return cause == "cause" and effect != "cause"


def _answers(trouble: Reading, role: str, tie: Link) -> bool:
    """Whether a remedy can be for this text: it tells of trouble, and one everyday word is not all they share."""
    return bool(role or tells(trouble.text, "trouble")) and tie.more_than_a_word


def _relation_of_labels(cause: str, effect: str, text: str) -> Relation:
    if effect == "blocks":
        return Relation.BLOCKS
    if effect == "enables":
        return Relation.ENABLES
    if effect == "effect" and tells(text, "hindered"):
        return Relation.BLOCKS
    if cause == "remedy" and tells(text, "possible") and not tells(text, "trouble"):
        return Relation.ENABLES
    return Relation.CAUSES


def _features(kind: str, tie: Link, cue: str = "") -> dict[str, float]:
    features = {
        f"kind {kind}": 1.0,
        "cosine": tie.cosine,
        "one word": float(tie.words <= 1),
        "names": float(bool(tie.names)),
    }
    return features | ({f"cue {cue}": 1.0} if cue else {})
