import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.thresholds import adaptive_threshold, ladder

hundredths = st.integers(0, 100).map(lambda number: number / 100)


def searched_again(similarities, exempt, limit, maximum, minimum):
    """The plain loop: search at each bound, from the highest in whole steps of 5 hundredths, until 4/5 came."""
    bounds = [*range(round(maximum * 100), round(minimum * 100), -5), round(minimum * 100)]
    for iteration, bound in enumerate(bounds, start=1):
        found = [one for one in similarities if round(one * 100) >= bound]
        if len(found) + exempt >= max(1, int(limit * 0.8)):
            return bound / 100, iteration, "converged"
    return bounds[-1] / 100, len(bounds), "exhausted"


@given(st.lists(hundredths, max_size=80), st.integers(0, 5), st.integers(1, 50), hundredths, hundredths)
def test_one_pass_equals_searching_again_at_every_step(similarities, exempt, limit, one, other):
    """The bound, the number of steps and the outcome are those of the loop that really searches each time."""
    maximum, minimum = max(one, other), min(one, other)
    found = adaptive_threshold(similarities, exempt=exempt, limit=limit, maximum=maximum, minimum=minimum)
    expected = searched_again(similarities, exempt, limit, maximum, minimum)
    assert (found.value, found.iterations, found.outcome) == expected


def test_the_usual_ladder_has_nine_steps_and_holds_both_ends():
    """Steps are exact: floating-point subtraction would miss 0.35 or add a tenth step."""
    assert ladder(0.75, 0.35) == [0.75, 0.7, 0.65, 0.6, 0.55, 0.5, 0.45, 0.4, 0.35]


def test_a_ladder_that_does_not_divide_ends_at_its_minimum():
    assert ladder(0.5, 0.42) == [0.5, 0.45, 0.42]


def test_one_bound_is_a_ladder_of_one():
    assert ladder(0.5, 0.5) == [0.5]


@pytest.mark.parametrize(("maximum", "minimum"), [(0.3, 0.4), (1.2, 0.1), (0.5, -0.1)])
def test_impossible_bounds_are_refused(maximum, minimum):
    with pytest.raises(ValueError, match="bound"):
        ladder(maximum, minimum)
