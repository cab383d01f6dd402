import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.evaluation.bootstrap import paired_difference

SCORES = st.lists(st.floats(0, 1), min_size=1, max_size=30)


def test_a_clear_difference_has_an_interval_above_zero():
    source = random.Random(1)
    a = [source.random() * 0.5 for _ in range(200)]
    found = paired_difference(a, [value + 0.1 + source.random() * 0.1 for value in a], seed=1)
    assert 0.1 < found.low < found.mean < found.high < 0.2
    assert found.better == 1


def test_noise_has_an_interval_round_zero():
    source = random.Random(2)
    found = paired_difference([source.random() for _ in range(200)], [source.random() for _ in range(200)], seed=1)
    assert found.low < 0 < found.high


def test_one_lucky_conversation_is_seen_through_by_clusters():
    """All of the gain lies in one of four: question by question it looks certain, conversation by conversation not."""
    a = [0.0] * 400
    b = [1.0] * 100 + [0.0] * 300
    clusters = [number // 100 for number in range(400)]
    assert paired_difference(a, b, seed=1).low > 0.2
    assert paired_difference(a, b, clusters=clusters, seed=1).low == 0


@given(SCORES, st.integers(0, 5))
def test_the_same_seed_gives_the_same_interval(scores: list[float], seed: int):
    other = [1 - value for value in scores]
    assert paired_difference(scores, other, seed=seed) == paired_difference(scores, other, seed=seed)


def test_lists_that_make_no_pairs_are_refused():
    for a, b in (([], []), ([1.0], [1.0, 0.0])):
        with pytest.raises(ValueError, match="pairs"):
            paired_difference(a, b, seed=0)
