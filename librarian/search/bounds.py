"""Similarity thresholds of hits: the caller's settings and their defaults."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from librarian.base.errors import InvalidInput
from librarian.base.settings.settings import SearchSettings
from librarian.search.contracts import SearchInput, SemanticSearchInput
from retrieval.thresholds import AdaptiveBound, Bound, FixedBound

Source = Literal["given", "default", "adaptive"]

_REPLACED = "similarity_threshold is left out: adaptive_threshold replaces it"
_SWITCHED_OFF = "adaptive thresholds are switched off in this service (ADAPTIVE_THRESHOLD_ENABLED)"


@dataclass(frozen=True, slots=True)
class Bounded:
    """The bound of a search (None if hits need not be similar), its source, and notes for the caller."""

    bound: Bound | None
    source: Source = "default"
    notes: Sequence[str] = ()


def bound_of(query: SearchInput | SemanticSearchInput, settings: SearchSettings) -> Bounded:
    """Return the bound for `query`: an adaptive one, otherwise the given one, otherwise the tools' default.

    A tool's threshold adapts by default, that of a plain search only on request; a plain search with neither has none.
    Raises InvalidInput if the ends of the ladder contradict each other.
    """
    lowest, highest = query.adaptive_threshold_min, query.adaptive_threshold_max
    if lowest > highest:
        raise InvalidInput(
            f"adaptive_threshold_min {lowest:g} lies above adaptive_threshold_max {highest:g}",
            field="adaptive_threshold_min",
            remedy="Make it at most as high as adaptive_threshold_max.",
        )
    given = query.similarity_threshold
    if query.adaptive_threshold is True and settings.adaptive_threshold:
        notes = [] if given is None else [_REPLACED]
        return Bounded(AdaptiveBound(highest, lowest), "adaptive", notes)
    notes = [_SWITCHED_OFF] if query.adaptive_threshold is True else []
    if given is not None:
        return Bounded(FixedBound(given), "given", notes)
    if isinstance(query, SearchInput):
        return Bounded(None, notes=notes)
    if query.adaptive_threshold is not False and settings.adaptive_threshold:
        return Bounded(AdaptiveBound(highest, lowest), "adaptive")
    return Bounded(FixedBound(), "default", notes)
