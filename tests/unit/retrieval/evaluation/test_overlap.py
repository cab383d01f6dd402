import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.evaluation.overlap import overlap, rank_correlation

IDS = st.lists(st.sampled_from("abcdefgh"), unique=True)


@pytest.mark.parametrize(
    ("a", "b", "k", "expected"),
    [
        ("abc", "abc", 10, 1),
        ("abc", "cde", 10, 1 / 3),
        ("abc", "ab", 10, 2 / 3),
        ("abc", "cba", 1, 0),
        ("", "", 5, 1),
        ("", "a", 5, 0),
    ],
)
def test_overlap_of_known_lists(a: str, b: str, k: int, expected: float):
    assert overlap(list(a), list(b), k) == pytest.approx(expected)


@given(IDS, IDS, st.integers(1, 8))
def test_overlap_is_a_share_and_has_no_side(a: list[str], b: list[str], k: int):
    assert 0 <= overlap(a, b, k) <= 1
    assert overlap(a, b, k) == overlap(b, a, k)
    assert overlap(a, a, k) == 1


def test_correlation_is_kendall_s():
    assert rank_correlation("abcd", "abcd") == 1
    assert rank_correlation("abcd", "dcba") == -1
    assert rank_correlation("abcd", "abdc") == pytest.approx(4 / 6)
    assert rank_correlation("xab", "yba") == -1
    assert rank_correlation("ab", "cd") is None
