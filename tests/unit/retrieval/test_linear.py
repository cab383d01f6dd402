import pytest

from retrieval.fusion import Fused, Ranking, Share, boosted, score_max, score_sum
from retrieval.linear import Pool, default_weights, linear_fusion
from retrieval.signals import QueryTraits, Traits, signals


def test_every_weight_is_that_of_a_signal_and_every_signal_has_one():
    """A misspelt name in the data file would be a weight that nobody applies."""
    assert set(default_weights()) == set(signals({"a": Traits()}, QueryTraits()))


def test_the_score_is_the_sum_of_the_signals_shares():
    """So that an explanation adds up."""
    pool = Pool(0, [], {"a": Traits(cosine=0.8, keyword=0.2), "b": Traits(cosine=0.1, keyword=1.0)}, QueryTraits())
    for one in linear_fusion([pool], default_weights(), explain=True):
        assert one.score == pytest.approx(sum(share.share for share in one.signals))


def test_an_arm_that_said_nothing_takes_nothing_away():
    """With the keyword arm alone, the best candidate still gets the whole of what can be had."""
    pool = Pool(0, [], {"a": Traits(keyword=1.0), "b": Traits(keyword=0.4)}, QueryTraits())
    best = linear_fusion([pool], {"vector": 0.7, "keyword": 0.3})[0]
    assert (best.uid, best.score) == ("a", 1.0)


def test_an_item_has_its_best_score_over_the_queries():
    """A query that misses it does not pull it down."""
    good = Pool(0, [], {"a": Traits(cosine=0.9), "b": Traits(cosine=0.1)}, QueryTraits())
    bad = Pool(1, [], {"a": Traits(cosine=0.1), "b": Traits(cosine=0.2), "c": Traits(cosine=0.9)}, QueryTraits())
    assert {one.uid: one.score for one in linear_fusion([good, bad], {"vector": 1.0})}["a"] == 1.0


def test_agreement_of_queries_is_rewarded_by_the_boost():
    """An item that both queries found passes an equal one that only one found; without boost it does not."""
    both = Fused("z", 0.5, [Share(0, "vector", 1, 0.9, 0.5), Share(1, "vector", 1, 0.9, 0.5)])
    one = Fused("a", 0.5, [Share(0, "vector", 2, 0.8, 0.5)])
    assert [item.uid for item in boosted([one, both], 2, 0.1)] == ["z", "a"]
    assert [item.uid for item in boosted([one, both], 2, 0.0)] == ["a", "z"]


def test_score_sum_and_score_max_scale_each_list_by_itself():
    """A BM25 of 20 and a cosine of .8 are both the best of their lists; an only hit is the best one too."""
    lists = [Ranking(0, "vector", ["a", "b"], [0.8, 0.4]), Ranking(0, "keyword", ["b"], [20.0])]
    assert {one.uid: one.score for one in score_sum(lists)} == {"a": 1.0, "b": 1.0}
    assert {one.uid: one.score for one in score_max(lists)} == {"a": 1.0, "b": 1.0}
