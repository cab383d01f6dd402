import pytest

from retrieval.thresholds import ladder


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
