"""Required similarity of a hit: a fixed bound, or one that is lowered until enough hits pass. Pure functions.

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
# Four fifths of the requested hits are enough: for the last fifth the bound would sink to noise.
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
    and every hit reaches `minimum`.
    """

    maximum: float = DEFAULT_MAX
    minimum: float = DEFAULT_MIN


Bound: TypeAlias = FixedBound | AdaptiveBound


@dataclass(frozen=True, slots=True)
class Threshold:
    """The resulting bound: `value` in 0..1, after `iterations` steps (1: the first bound sufficed). Every hit must
    reach `floor`: once most are similar, fusion judges the others better.

    `outcome` is "converged" if enough hits passed, "exhausted" if too few did even at the lowest bound, "fixed" if
    there was nothing to adapt.
    """

    value: float
    iterations: int
    outcome: Literal["converged", "exhausted", "fixed"]
    floor: float


def threshold_for(bound: Bound, similarities: Sequence[float | None], *, limit: int) -> Threshold:
    """Return the threshold for hits of these `similarities` (0..1; None passes every bound), of which `limit` are
    wanted.
    """
    match bound:
        case FixedBound(value):
            return Threshold(value, 1, "fixed", value)
        case AdaptiveBound(maximum, minimum):
            judged = [similarity for similarity in similarities if similarity is not None]
            exempt = len(similarities) - len(judged)
            return adaptive_threshold(judged, exempt=exempt, limit=limit, maximum=maximum, minimum=minimum)


def ladder(maximum: float, minimum: float) -> list[float]:
    """Return the bounds tried, from `maximum` in steps of 0.05 down to and including `minimum`. Raises ValueError."""
    if not 0 <= minimum <= maximum <= 1:
        raise ValueError(f"the lowest bound {minimum} must not lie above the highest {maximum}, both in 0..1")
    high, low, step = round(maximum * _SCALE), round(minimum * _SCALE), round(STEP * _SCALE)
    steps = list(range(high, low, -step))
    return [bound / _SCALE for bound in [*steps, low]]


def adaptive_threshold(
    similarities: Sequence[float], *, exempt: int = 0, limit: int, maximum: float, minimum: float
) -> Threshold:
    """Return the highest bound of the ladder that at least 4/5 of `limit` hits reach, else the lowest one.

    `similarities` are those of the hits, in any order; `exempt` counts hits that pass any bound. Gives the same result
    as searching again at each bound, in one pass. Raises ValueError if the bounds contradict each other.
    """
    target = max(1, int(limit * ENOUGH))
    ascending = sorted(similarities)
    bounds = ladder(maximum, minimum)
    for iterations, bound in enumerate(bounds, start=1):
        passing = len(ascending) - bisect_left(ascending, bound) + exempt
        if passing >= target:
            return Threshold(bound, iterations, "converged", bounds[-1])
    return Threshold(bounds[-1], len(bounds), "exhausted", bounds[-1])
