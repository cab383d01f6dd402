"""What rejections teach a sweep: of which kinds of reasons the humans of a namespace want to be asked."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from graph.executor import Executor
from graph.reviews import ReasonCount, reasons

ENOUGH = 3
"""So many rejections more than acceptances of one kind of reason lower the confidence in it."""
LOWERED = 0.25
"""By how much."""

# A reason up to where it begins to speak of the memories at hand.
_KIND = re.compile(
    r'with "[^"]*"|stated as "[^"]*"|the texts are close|it reads like \w+|a language model reads it as \w+'
    r"|the text says \w+|the two read like [^:]+"
)
_WEIGHT = {"rejected": 1, "accepted": -1}

Lessons = Mapping[str, int]
"""Kinds of reasons, and by how many more they were rejected than accepted."""


def kind_of(reason: str | None) -> str | None:
    """Return the kind of a proposal's reason; None where it has none that could be learned from."""
    found = _KIND.match(reason or "")
    return found[0] if found else None


async def learned(executor: Executor, namespace: str) -> Lessons:
    """Return what the decisions in a namespace teach."""
    return lessons_of(await reasons(executor, namespace))


def lessons_of(counts: Iterable[ReasonCount]) -> Lessons:
    """Return what decisions teach; those about merges teach nothing."""
    balance: Counter[str] = Counter()
    for count in counts:
        if count.sort != "merge" and (kind := kind_of(count.reason)):
            balance[kind] += _WEIGHT.get(count.state, 0) * count.count
    return {kind: rejected for kind, rejected in sorted(balance.items()) if rejected >= ENOUGH}


def lowered(lessons: Lessons, reason: str, confidence: float) -> float | None:
    """Return the confidence in what is proposed for `reason`; None where no lesson is about it."""
    return round(max(0.0, confidence - LOWERED), 3) if kind_of(reason) in lessons else None
