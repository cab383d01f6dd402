import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.evaluation.metrics import abstention_metrics, means, percentile, ranking_metrics

IDS = st.lists(st.sampled_from("abcdefghijklmnop"), unique=True)


def test_metrics_of_a_known_ranking():
    metrics = ranking_metrics({"a", "x"}, ["b", "a", "c", "d", "e", "x"])
    assert (metrics["recall@1"], metrics["recall@5"], metrics["recall@10"]) == (0, 0.5, 1)
    assert (metrics["mrr"], metrics["any@10"], metrics["size"]) == (0.5, 1, 6)
    assert metrics["precision"] == pytest.approx(2 / 6)
    ideal = 1 + 1 / math.log2(3)
    assert metrics["ndcg@10"] == pytest.approx((1 / math.log2(3) + 1 / math.log2(7)) / ideal)


@given(IDS, st.frozensets(st.sampled_from("abcdefghijklmnop"), min_size=1))
def test_metrics_lie_between_0_and_1_and_recall_grows(ranked: list[str], relevant: frozenset[str]):
    metrics = ranking_metrics(relevant, ranked)
    assert all(0 <= value <= 1 + 1e-9 for name, value in metrics.items() if name != "size")
    assert metrics["recall@1"] <= metrics["recall@5"] <= metrics["recall@10"] <= metrics["recall@20"]
    assert metrics["any@10"] >= metrics["recall@10"]


def test_saying_nothing_is_right_only_where_nothing_answers():
    assert abstention_metrics([]) == {"abstention": 1, "unwanted": 0}
    assert abstention_metrics(["a", "b"]) == {"abstention": 0, "unwanted": 2}
    assert ranking_metrics({"a"}, [])["false_abstention"] == 1


def test_a_mean_counts_only_the_questions_that_have_the_metric():
    assert means([{"mrr": 1.0}, {"abstention": 1.0}, {"mrr": 0.5}]) == {"mrr": 0.75, "abstention": 1.0}


@pytest.mark.parametrize(("share", "expected"), [(0.5, 2), (0.95, 4), (0.25, 1), (1, 4)])
def test_percentiles_are_samples(share: float, expected: int):
    assert percentile([3, 1, 4, 2], share) == expected
    assert percentile([], share) == 0
