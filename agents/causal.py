"""Causal edges from text: what two memories have to do with each other, with evidence from both, or nothing.

A typed edge needs words that name the relation (a cue), a quote from either end, and a time order that fits. What is
denied is dropped; what is only supposed stays below acceptance. Without a cue there is at most RELATES_TO.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agents.causal_between import Claim, claims
from agents.causal_cues import find_cues, hypothetical, negated
from agents.causal_head import Heads, trained_heads
from agents.causal_stated import Statement, locate, statements
from agents.causal_terms import MAX_CHARS, Link, Reading, link, nearest_sentence, reading
from agents.causal_types import ACCEPTED_FROM, NOTHING, Direction, Note, Relation, Verdict

TYPED_FROM = 0.5
"""Confidence below which no typed edge is claimed."""
RELATED_FROM = 0.6
"""Calibrated similarity from which two texts are related. Without a similarity, shared words and names decide."""
_SUPPOSED = ACCEPTED_FROM - 0.05
_SHARED_WORDS, _SHARED_COSINE = 4, 0.25
_RELATED_BY_NAMES = 0.6


@dataclass(frozen=True, slots=True)
class Inferred:
    """A verdict on `content` as the first text and the memory `other_uid` as the second."""

    other_uid: str
    verdict: Verdict


def infer_relationship(
    first: Note,
    second: Note,
    *,
    context: str | None = None,
    similarity: float | None = None,
    heads: Heads | None = None,
) -> Verdict:
    """What `first` and `second` have to do with each other; the same, turned, when they change places.

    `context` is a text that states both, such as the page they were cut from: a cue between them there counts.
    `similarity` is calibrated, 0-1. `heads` weigh the readings; the trained ones by default.
    """
    heads = heads or trained_heads()
    one, two = reading(first.text), reading(second.text)
    readings = [*_stated(one, two, context, heads), *_between(first, second, one, two, heads)]
    best = max(readings, key=_order, default=NOTHING)
    return best if best.confidence >= TYPED_FROM else _related(one, two, similarity)


def infer_relationships(note: Note, others: Sequence[Note]) -> list[Inferred]:
    """The edges between `note` and each of `others`, the surest first; those with nothing in common are left out."""
    found = [Inferred(other.uid, infer_relationship(note, other)) for other in others]
    related = [one for one in found if one.verdict.relation is not None]
    return sorted(related, key=lambda one: (not one.verdict.causal, -one.verdict.confidence))


def tells_of_cause(text: str) -> bool:
    """Whether `text` holds an unmistakable cue that it does not deny."""
    text = text[:MAX_CHARS]
    return any(not negated(text, hit) for hit in find_cues(text, weak=False))


def _order(verdict: Verdict) -> tuple[float, str, str, str]:
    """The surest first; of equals the same one whichever text is given first."""
    return verdict.confidence, verdict.source_quote, verdict.target_quote, verdict.cue


def _stated(one: Reading, two: Reading, context: str | None, heads: Heads) -> Iterator[Verdict]:
    if context is None:
        return
    context = context[:MAX_CHARS]
    first, second = locate(context, one.text), locate(context, two.text)
    if first is None or second is None:
        return
    for read in statements(context, first, second):
        if not negated(context, read.hit):
            confidence = heads.stated.probability(read.features())
            yield _of_statement(read, one, two, confidence, supposed=hypothetical(context, read.hit))


def _of_statement(read: Statement, one: Reading, two: Reading, confidence: float, *, supposed: bool) -> Verdict:
    forward = read.direction is Direction.FORWARD
    source, target = (one, two) if forward else (two, one)
    return Verdict(
        read.hit.cue.relation,
        read.direction,
        _rounded(confidence, supposed=supposed),
        source.text.strip(),
        target.text.strip(),
        read.hit.words,
        _reason(f'the context joins them by "{read.hit.words}"', supposed=supposed),
    )


def _between(first: Note, second: Note, one: Reading, two: Reading, heads: Heads) -> Iterator[Verdict]:
    for claim in claims(one, two, first.uid, second.uid):
        if not _too_early(claim.points_back, first, second):
            yield _of_claim(claim, heads.between.probability(claim.features))


def _of_claim(claim: Claim, confidence: float) -> Verdict:
    return Verdict(
        claim.relation,
        claim.direction,
        _rounded(confidence, supposed=claim.hypothetical),
        claim.source_quote,
        claim.target_quote,
        claim.cue,
        _reason(_REASONS[claim.kind].format(cue=claim.cue), supposed=claim.hypothetical),
    )


_REASONS = {
    "reference": 'one speaks of the other with "{cue}"',
    "paraphrase": 'one tells with "{cue}" what the other tells',
    "opening": 'one begins with "{cue}" and shares words with the other',
    "labels": 'the label "{cue}" makes them parts of one story',
}


def _too_early(speaker: Direction, first: Note, second: Note) -> bool:
    """Whether the text that speaks of the other is the older one, so that it cannot mean it."""
    if speaker is Direction.NONE or first.occurred_at is None or second.occurred_at is None:
        return False
    if speaker is Direction.FORWARD:
        return first.occurred_at < second.occurred_at
    return second.occurred_at < first.occurred_at


def _related(one: Reading, two: Reading, similarity: float | None) -> Verdict:
    tie = link(one, two)
    confidence = _relatedness(tie, similarity)
    if confidence < RELATED_FROM:
        return NOTHING
    quotes = nearest_sentence(one.text, two.stems), nearest_sentence(two.text, one.stems)
    reason = "both name " + ", ".join(sorted(tie.names)[:3]) if tie.names else "the texts are close"
    return Verdict(Relation.RELATES_TO, Direction.NONE, confidence, *quotes, reason=reason)


def _relatedness(tie: Link, similarity: float | None) -> float:
    close = similarity or 0.0
    if tie.names or (similarity is None and tie.words >= _SHARED_WORDS and tie.cosine >= _SHARED_COSINE):
        return round(max(close, _RELATED_BY_NAMES), 2)
    return round(close, 2)


def _rounded(confidence: float, *, supposed: bool) -> float:
    return round(min(confidence, _SUPPOSED) if supposed else confidence, 2)


def _reason(reason: str, *, supposed: bool) -> str:
    return f"{reason}, but only supposed" if supposed else reason
