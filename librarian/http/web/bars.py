"""The explanation of a hit as bars: how much each arm and signal added to or took from its score."""

from collections.abc import Iterable
from dataclasses import dataclass

from librarian.search.contracts import ArmExplanation, Explanation

FULL = 100

WORDS = {
    "vector": "means the same",
    "keyword": "has the same words",
    "sentence": "says it in one sentence",
    "window": "the turns around it mean the same",
    "previous_keyword": "the turn before asks for it",
    "session_keyword": "its session has the same words",
    "session_vector": "its session means the same",
    "author": "by the author who is asked for",
    "question": "is a question itself",
    "time_words": "tells a time",
    "date": "happened on the date asked for",
    "graph": "an edge leads here from a good hit",
    "answers": "answers the question",
}
"""Labels of arms and signals; one without a label is shown by its name."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A row: `width` is 0 to 100, relative to the longest of all hits; `share` its part of the fused score."""

    label: str
    share: float
    width: int


@dataclass(frozen=True, slots=True)
class ArmRank:
    """The best rank of the hit in an arm over all queries."""

    arm: str
    rank: int


def longest_share(explained: Iterable[Explanation | None]) -> float:
    """Return the largest share of any hit, the scale of all bars."""
    every = (abs(share) for why in explained if why is not None for share in _shares(why).values())
    return max(every, default=0.0)


def bars(why: Explanation, longest: float) -> list[Bar]:
    """Return the bars of a hit, without zero shares. `longest` fills the whole width."""
    shares = {label: share for label, share in _shares(why).items() if share}
    return [Bar(label, share, _width(share, longest)) for label, share in shares.items()]


def arm_ranks(why: Explanation) -> list[ArmRank]:
    """Return the best rank in each arm that found the hit."""
    best: dict[str, ArmExplanation] = {}
    for found in why.arms:
        if found.arm not in best or found.rank < best[found.arm].rank:
            best[found.arm] = found
    return [ArmRank(arm, found.rank) for arm, found in best.items()]


def _shares(why: Explanation) -> dict[str, float]:
    """Return shares by arm or signal, summed over the queries."""
    summed: dict[str, float] = {}
    for arm in why.arms:
        summed[arm.arm] = summed.get(arm.arm, 0.0) + arm.share
    for signal in why.signals:
        summed[signal.signal] = summed.get(signal.signal, 0.0) + signal.share
    return summed


def _width(share: float, longest: float) -> int:
    return max(1, round(FULL * abs(share) / longest)) if longest else 0
