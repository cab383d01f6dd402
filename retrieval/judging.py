"""Orders answers: judges the fused candidates by how well they answer, query by query. Pure functions."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from graph.types import UNKNOWN_TIME, Kind
from retrieval.answering import Judgement, judge
from retrieval.fusion import Fused, SignalShare, in_order
from retrieval.jury import Candidate
from retrieval.linear import Pool
from retrieval.readings import question
from retrieval.signals import Traits

ANSWER = "answer"
"""Name of the judgement among the signals of an explanation."""

JUDGED = 40
"""Candidates of a query that are judged; the others keep their order after them."""

READ_CHARS = 8_000
"""Characters of a text that the statements `pool_traits` return; the rest counts only by the keyword score."""

_TURNS_AROUND = 3
_AROUND_CHARS = 300
_SOON = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Judged:
    """The candidates in their new order, the best judgement of each, and the readings of their texts."""

    fused: Sequence[Fused]
    judgements: Mapping[str, Judgement] = field(default_factory=dict)


def judged(
    queries: Sequence[str],
    pools: Sequence[Pool],
    fused: Sequence[Fused],
    similarity: Callable[[str], float | None],
    causes: Mapping[str, Sequence[str]],
    now: datetime,
) -> Judged:
    """Return `fused` ordered by how well each answers one of the `queries`, each the query of its pool.

    `causes` maps a candidate to its causes.
    """
    best: dict[str, tuple[int, Judgement]] = {}
    for text, pool in zip(queries, pools, strict=True):
        own = [entry for entry in fused if entry.uid in pool.traits]
        turns = turns_of(pool.traits)
        candidates = [
            candidate_of(entry, pool.traits[entry.uid], turns, similarity(entry.uid), causes.get(entry.uid, ()))
            for entry in own[: max(JUDGED, len(pool.traits) if pool.whole else 0)]
        ]
        for judgement in judge(question(text, now), candidates, now):
            if judgement.uid not in best or judgement.score > best[judgement.uid][1].score:
                best[judgement.uid] = (pool.query, judgement)
    lowest = min((judgement.score for _, judgement in best.values()), default=1.0)
    ordered = in_order(_moved(entry, best.get(entry.uid), lowest) for entry in fused)
    return Judged(ordered, {uid: judgement for uid, (_, judgement) in best.items()})


def _moved(entry: Fused, found: tuple[int, Judgement] | None, lowest: float) -> Fused:
    """Return the entry's new place: unjudged ones follow judged ones, in their old order."""
    if found is None:
        return Fused(entry.uid, lowest * max(0.0, min(1.0, entry.score / 2)), entry.shares, entry.signals)
    query, judgement = found
    signal = SignalShare(query, ANSWER, judgement.score, judgement.score - entry.score)
    return Fused(entry.uid, judgement.score, entry.shares, [*entry.signals, signal])


@dataclass(frozen=True, slots=True)
class Turn:
    """A message in its conversation: its position there, if known, and its time."""

    uid: str
    text: str
    position: int | None
    when: datetime | None


Turns = Mapping[tuple[str | None, str | None], Sequence[Turn]]
"""The turns of each session of a conversation, in order."""


def turns_of(pool: Mapping[str, Traits]) -> Turns:
    """Return the turns of each session in a pool."""
    turns: defaultdict[tuple[str | None, str | None], list[Turn]] = defaultdict(list)
    for uid, traits in pool.items():
        if traits.conversation is not None and (traits.position is not None or traits.when is not None):
            turn = Turn(uid, traits.passage.text[:_AROUND_CHARS], traits.position, traits.when)
            turns[traits.conversation, traits.session].append(turn)
    for own in turns.values():
        own.sort(key=lambda turn: (turn.when or UNKNOWN_TIME, turn.position or 0, turn.uid))
    return turns


def candidate_of(
    entry: Fused, traits: Traits, turns: Turns, similarity: float | None, causes: Sequence[str]
) -> Candidate:
    """Return a candidate in the form that judgements take."""
    before, after = _around(entry.uid, traits, turns)
    return Candidate(
        uid=entry.uid,
        text=traits.passage.text,
        head=" ".join(part for part in (traits.author, traits.caption) if part),
        around=[*before, *after],
        before=before,
        when=traits.when,
        ends=traits.ends,
        is_fact=traits.kind is Kind.FACT,
        attribute=traits.attribute,
        sources=traits.sources,
        causes=causes,
        fused=entry.score,
        linked=traits.linked,
        similarity=similarity,
        unread=traits.keyword if len(traits.passage.text) >= READ_CHARS else 0.0,
    )


def _around(uid: str, traits: Traits, turns: Turns) -> tuple[list[str], list[str]]:
    """Return the text in the pool of the neighbouring turns, those before it and those after it, in order."""
    own = turns.get((traits.conversation, traits.session), ())
    at = next((at for at, turn in enumerate(own) if turn.uid == uid), None)
    if at is None:
        return [], []
    before, after = own[max(0, at - _TURNS_AROUND) : at], own[at + 1 : at + 1 + _TURNS_AROUND]
    return [one.text for one in before if _near(one, own[at])], [one.text for one in after if _near(one, own[at])]


def _near(one: Turn, other: Turn) -> bool:
    """Return whether two turns are neighbours by their positions, or by their times where a position is unknown."""
    if one.position is not None and other.position is not None:
        return abs(one.position - other.position) <= _TURNS_AROUND
    return one.when is not None and other.when is not None and abs(one.when - other.when) <= _SOON
