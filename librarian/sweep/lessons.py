"""Lessons from rejections: the kinds of reasons about which the humans of a namespace want to be asked."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from graph.executor import Executor
from graph.reviews import ReasonCount, reasons

ENOUGH = 3
"""This surplus of rejections over acceptances of one kind of reason lowers the confidence in it."""
LOWERED = 0.25
"""Reduction of the confidence."""

# A reason up to where it refers to specific memories.
_KIND = re.compile(
    r'with "[^"]*"|stated as "[^"]*"|the texts are close|it reads like \w+|a language model reads it as \w+'
    r"|the text says \w+|the two read like [^:]+"
)
_WEIGHT = {"rejected": 1, "accepted": -1}

Lessons = Mapping[str, int]
"""Kinds of reasons, each with its surplus of rejections over acceptances."""


def kind_of(reason: str | None) -> str | None:
    """Return the kind of a proposal's reason; None if there is nothing to learn from it."""
    found = _KIND.match(reason or "")
    return found[0] if found else None


async def learned(executor: Executor, namespace: str) -> Lessons:
    """Return the lessons of the decisions in a namespace."""
    return lessons_of(await reasons(executor, namespace))


def lessons_of(counts: Iterable[ReasonCount]) -> Lessons:
    """Return the lessons of decisions; decisions about merges are ignored."""
    balance: Counter[str] = Counter()
    for count in counts:
        if count.sort != "merge" and (kind := kind_of(count.reason)):
            balance[kind] += _WEIGHT.get(count.state, 0) * count.count
    return {kind: rejected for kind, rejected in sorted(balance.items()) if rejected >= ENOUGH}


def lowered(lessons: Lessons, reason: str, confidence: float) -> float | None:
    """Return the lowered confidence in a proposal for `reason`; None if no lesson applies."""
    return round(max(0.0, confidence - LOWERED), 3) if kind_of(reason) in lessons else None
