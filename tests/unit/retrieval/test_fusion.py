import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.fusion import Ranking, reciprocal_rank_fusion

UIDS = st.lists(st.sampled_from("abcdefghij"), unique=True)


def ranking(query: int, uids: list[str], arm: str = "vector") -> Ranking:
    return Ranking(query, arm, uids, [1 / (rank + 1) for rank in range(len(uids))])


def test_the_formula():
    fused = reciprocal_rank_fusion([ranking(0, ["a", "b"]), ranking(0, ["b"], "keyword")], k=60)
    assert [(item.uid, item.score) for item in fused] == [
        ("b", pytest.approx(1 / 62 + 1 / 61)),
        ("a", pytest.approx(1 / 61)),
    ]


@given(st.lists(UIDS, max_size=4), st.integers(min_value=1, max_value=100))
def test_every_item_once_best_first_and_bounded(lists: list[list[str]], k: int):
    fused = reciprocal_rank_fusion([ranking(i, uids) for i, uids in enumerate(lists)], k=k)
    assert sorted(item.uid for item in fused) == sorted({uid for uids in lists for uid in uids})
    scores = [item.score for item in fused]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= len(lists) / (k + 1) + 1e-12 for score in scores)
    assert all(item.score == pytest.approx(sum(share.share for share in item.shares)) for item in fused)


@given(UIDS)
def test_one_list_keeps_its_order(uids: list[str]):
    assert [item.uid for item in reciprocal_rank_fusion([ranking(0, uids)])] == uids
