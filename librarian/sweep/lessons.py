"""What rejections teach a sweep: of which kinds of reasons the humans of a namespace want to be asked."""

import re
from collections import Counter
from collections.abc import Mapping

from graph.edges import decided, edges_to_review
from graph.executor import Executor
from graph.reviews import proposals

ENOUGH = 3
"""So many rejections more than acceptances of one kind of reason lower the confidence in it."""
LOWERED = 0.25
"""By how much."""

_MOST = 2_000
# A reason up to where it begins to speak of the memories at hand.
_KIND = re.compile(
    r'with "[^"]*"|the texts are close|it reads like \w+|a language model reads it as \w+|the text says \w+'
)

Lessons = Mapping[str, int]
"""Kinds of reasons, and by how many more they were rejected than accepted."""


def kind_of(reason: str | None) -> str | None:
    """Return the kind of a proposal's reason; None where it has none that could be learned from."""
    found = _KIND.match(reason or "")
    return found[0] if found else None


async def learned(executor: Executor, namespace: str) -> Lessons:
    """Return what the decisions in a namespace teach."""
    states = ["accepted", "rejected"]
    drawn = await edges_to_review(executor, namespace, states, after="", limit=_MOST)
    told = await proposals(executor, namespace, ["flag"], states, after=("", -1), limit=_MOST)
    balance: Counter[str] = Counter()
    for reason, accepted in [
        *((edge.reason, edge.state == "accepted") for edge in drawn if decided(edge)),
        *((flag.reason, flag.state == "accepted") for flag in told),
    ]:
        if kind := kind_of(reason):
            balance[kind] += -1 if accepted else 1
    return {kind: count for kind, count in sorted(balance.items()) if count >= ENOUGH}


def lowered(lessons: Lessons, reason: str, confidence: float) -> float | None:
    """Return the confidence in what is proposed for `reason`; None where no lesson is about it."""
    return round(max(0.0, confidence - LOWERED), 3) if kind_of(reason) in lessons else None
