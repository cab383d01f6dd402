import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from librarian.usecases.evaluate import score

UIDS = st.lists(st.sampled_from("abcdefghijklmnop"), unique=True)


def test_metrics_of_a_known_ranking():
    metrics = score(frozenset({"a", "x"}), ["b", "a", "c", "d", "e", "x"])
    assert metrics["recall@1"] == 0
    assert metrics["recall@5"] == 0.5
    assert metrics["recall@10"] == 1
    assert metrics["mrr"] == 0.5
    ideal = 1 + 1 / math.log2(3)
    assert metrics["ndcg@10"] == pytest.approx((1 / math.log2(3) + 1 / math.log2(7)) / ideal)


@given(UIDS, st.frozensets(st.sampled_from("abcdefghijklmnop"), min_size=1))
def test_metrics_lie_between_0_and_1_and_recall_grows(ranked: list[str], relevant: frozenset[str]):
    metrics = score(relevant, ranked)
    assert all(0 <= value <= 1 + 1e-9 for value in metrics.values())
    assert metrics["recall@1"] <= metrics["recall@5"] <= metrics["recall@10"] <= metrics["recall@20"]
