"""The outcome of each way to ask for a threshold."""

import msgspec
import pytest

from librarian.base.errors import InvalidInput
from librarian.base.settings.settings import SearchSettings
from librarian.search.bounds import bound_of
from librarian.search.contracts import SearchInput, SemanticSearchInput
from retrieval.thresholds import AdaptiveBound, FixedBound

ON = SearchSettings()
OFF = SearchSettings(adaptive_threshold=False)


def bound(contract, settings=ON, **given):
    return bound_of(msgspec.convert({"queries": ["q"], **given}, contract), settings)


@pytest.mark.parametrize(
    ("given", "expected", "source"),
    [
        ({}, AdaptiveBound(0.75, 0.35), "adaptive"),
        ({"adaptive_threshold": True}, AdaptiveBound(0.75, 0.35), "adaptive"),
        ({"adaptive_threshold_max": 0.5, "adaptive_threshold_min": 0.5}, AdaptiveBound(0.5, 0.5), "adaptive"),
        ({"similarity_threshold": 0.0}, FixedBound(0.0), "given"),
        ({"similarity_threshold": 0.4, "adaptive_threshold": False}, FixedBound(0.4), "given"),
        ({"adaptive_threshold": False}, FixedBound(0.6), "default"),
        ({"similarity_threshold": 0.4, "adaptive_threshold": True}, AdaptiveBound(0.75, 0.35), "adaptive"),
    ],
)
def test_the_threshold_of_a_tool_adapts_unless_told_otherwise(given, expected, source):
    found = bound(SemanticSearchInput, **given)
    assert (found.bound, found.source) == (expected, source)


@pytest.mark.parametrize("contract", [SearchInput, SemanticSearchInput])
def test_a_threshold_that_is_left_out_is_told(contract):
    """An explicit adaptive_threshold replaces a threshold that was sent beside it, and says so."""
    found = bound(contract, similarity_threshold=0.4, adaptive_threshold=True)
    assert found.bound == AdaptiveBound(0.75, 0.35)
    assert any("similarity_threshold" in note for note in found.notes)
    assert not bound(contract, similarity_threshold=0.4).notes


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, None),
        ({"adaptive_threshold": False}, None),
        ({"adaptive_threshold": True}, AdaptiveBound(0.75, 0.35)),
        ({"similarity_threshold": 0.2}, FixedBound(0.2)),
    ],
)
def test_a_plain_search_throws_nothing_away_unasked(given, expected):
    assert bound(SearchInput, **given).bound == expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [({}, FixedBound(0.6)), ({"similarity_threshold": 0.3, "adaptive_threshold": True}, FixedBound(0.3))],
)
def test_a_service_can_do_without_adaptive_thresholds(given, expected):
    """Tools have the fixed default then, and who asks for more is told why not."""
    found = bound(SemanticSearchInput, OFF, **given)
    assert found.bound == expected
    assert any("ADAPTIVE_THRESHOLD_ENABLED" in note for note in found.notes) is ("adaptive_threshold" in given)


@pytest.mark.parametrize("contract", [SearchInput, SemanticSearchInput])
def test_ends_of_the_ladder_that_contradict_each_other_are_refused(contract):
    with pytest.raises(InvalidInput, match=r"0\.5 lies above adaptive_threshold_max 0\.4") as caught:
        bound(contract, adaptive_threshold_min=0.5, adaptive_threshold_max=0.4)
    assert caught.value.field == "adaptive_threshold_min"
