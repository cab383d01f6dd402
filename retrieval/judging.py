"""Orders answers: judges the fused candidates by how well they answer, query by query. Pure functions."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from graph.types import Kind
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


Turns = Mapping[tuple[str | None, str | None], Sequence[tuple[int, str, str]]]
"""The turns of each session of a conversation: position, uid and text."""


def turns_of(pool: Mapping[str, Traits]) -> Turns:
    """Return the turns of each session in a pool."""
    turns: defaultdict[tuple[str | None, str | None], list[tuple[int, str, str]]] = defaultdict(list)
    for uid, traits in pool.items():
        if traits.conversation is not None and traits.position is not None:
            turns[traits.conversation, traits.session].append((traits.position, uid, traits.passage.text))
    return turns


def candidate_of(
    entry: Fused, traits: Traits, turns: Turns, similarity: float | None, causes: Sequence[str]
) -> Candidate:
    """Return a candidate in the form that judgements take."""
    return Candidate(
        uid=entry.uid,
        text=traits.passage.text,
        head=" ".join(part for part in (traits.author, traits.caption) if part),
        around=_around(entry.uid, traits, turns),
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


def _around(uid: str, traits: Traits, turns: Turns) -> list[str]:
    """Return the text in the pool of the neighbouring turns."""
    if traits.conversation is None or traits.position is None:
        return []
    return [
        text[:_AROUND_CHARS]
        for position, other, text in turns[traits.conversation, traits.session]
        if other != uid and abs(position - traits.position) <= _TURNS_AROUND
    ]
