"""How similar a hit has to be: a fixed bound, or one that comes down until enough hits pass. Pure functions.

Similarities are calibrated (retrieval.calibration), so that a bound means the same for every model and language.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

DEFAULT_MAX = 0.75
DEFAULT_MIN = 0.35
DEFAULT_FIXED = 0.6
STEP = 0.05
# A search is content with four fifths of what it was asked for: the last fifth is where the bound would sink to noise.
ENOUGH = 0.8
# Bounds are compared as whole ten-thousandths: 0.75 - 0.05 - … never meets 0.35 in floating point.
_SCALE = 10_000


@dataclass(frozen=True, slots=True)
class FixedBound:
    """Hits reach `value` (0..1); 0.0 keeps everything."""

    value: float = DEFAULT_FIXED


@dataclass(frozen=True, slots=True)
class AdaptiveBound:
    """Most hits reach the highest step of the ladder from `maximum` down to `minimum` (0..1) that enough of them reach,
    and every hit `minimum`.
    """

    maximum: float = DEFAULT_MAX
    minimum: float = DEFAULT_MIN


Bound: TypeAlias = FixedBound | AdaptiveBound


@dataclass(frozen=True, slots=True)
class Threshold:
    """The bound that was found: `value` in 0..1, after `iterations` steps (1: the first bound did). Every hit has to
    reach `floor`: once most are similar, fusion is the better judge of the others.

    `outcome` is "converged" when enough hits passed, "exhausted" when too few did even at the lowest bound, "fixed"
    when nothing was to be found out.
    """

    value: float
    iterations: int
    outcome: Literal["converged", "exhausted", "fixed"]
    floor: float


def threshold_for(bound: Bound, similarities: Sequence[float | None], *, limit: int) -> Threshold:
    """The threshold for hits of these `similarities` (0..1; None passes every bound), of which `limit` are wanted."""
    match bound:
        case FixedBound(value):
            return Threshold(value, 1, "fixed", value)
        case AdaptiveBound(maximum, minimum):
            judged = [one for one in similarities if one is not None]
            exempt = len(similarities) - len(judged)
            return adaptive_threshold(judged, exempt=exempt, limit=limit, maximum=maximum, minimum=minimum)


def ladder(maximum: float, minimum: float) -> list[float]:
    """The bounds tried, from `maximum` in steps of 0.05 down to and including `minimum`. Raises ValueError."""
    if not 0 <= minimum <= maximum <= 1:
        raise ValueError(f"the lowest bound {minimum} must not lie above the highest {maximum}, both in 0..1")
    high, low, step = round(maximum * _SCALE), round(minimum * _SCALE), round(STEP * _SCALE)
    steps = list(range(high, low, -step))
    return [bound / _SCALE for bound in [*steps, low]]


def adaptive_threshold(
    similarities: Sequence[float], *, exempt: int = 0, limit: int, maximum: float, minimum: float
) -> Threshold:
    """The highest bound of the ladder that at least 4/5 of `limit` hits reach, else the lowest one.

    `similarities` are those of the hits, in any order; `exempt` counts hits that pass whatever the bound. Equal
    to searching again at each bound, from one pass. Raises ValueError when the bounds contradict each other.
    """
    target = max(1, int(limit * ENOUGH))
    known = sorted(similarities)
    bounds = ladder(maximum, minimum)
    for iterations, bound in enumerate(bounds, start=1):
        passing = len(known) - bisect_left(known, bound) + exempt
        if passing >= target:
            return Threshold(bound, iterations, "converged", bounds[-1])
    return Threshold(bounds[-1], len(bounds), "exhausted", bounds[-1])
