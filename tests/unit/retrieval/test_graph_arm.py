import pytest

from graph.search import Neighbour
from retrieval.fusion import Fused
from retrieval.graph_arm import SEEDS, ranked, seeds_of
from retrieval.linear import Pool, default_weights, linear_fusion
from retrieval.signals import QueryTraits, Traits


def found(*scores):
    return [Fused(f"u{place}", score, []) for place, score in enumerate(scores)]


def pool(*uids):
    return Pool(0, [], {uid: Traits(cosine=0.5) for uid in uids}, QueryTraits())


def test_a_neighbour_counts_by_the_best_hit_and_edge_that_lead_to_it():
    beside = [
        Neighbour("first", "x", "CAUSES", 0.8),
        Neighbour("second", "x", "RELATES_TO", 1.0),
        Neighbour("second", "y", "EVIDENCED_BY", 1.0),
        Neighbour("of another query", "z", "CAUSES", 1.0),
    ]
    made = ranked(3, {"first": 1.0, "second": 0.5}, beside)
    assert (made.query, made.arm) == (3, "graph")
    assert list(zip(made.uids, made.scores, strict=True)) == [("x", 0.8), ("y", 0.5)]


def test_only_the_first_of_what_the_query_found_lead_on():
    fused = found(*(1 - place / 100 for place in range(20)))
    own = seeds_of(pool(*(one.uid for one in fused[1:])), fused)
    assert list(own) == [one.uid for one in fused[1 : SEEDS + 1]]
    assert own["u1"] == 1.0
    assert own["u2"] == pytest.approx(0.98 / 0.99)


@pytest.mark.parametrize("scores", [(), (0.0, -0.1), (-0.3,)])
def test_what_nothing_speaks_for_leads_nowhere(scores):
    fused = found(*scores)
    assert seeds_of(pool(*(one.uid for one in fused)), fused) == {}


def test_without_edges_the_weight_changes_nothing():
    """An arm that found nothing takes nothing away from the others."""
    traits = {"a": Traits(cosine=0.9, keyword=0.1), "b": Traits(cosine=0.2, keyword=1.0)}
    without = {name: weight for name, weight in default_weights().items() if name != "graph"}
    both = [linear_fusion([Pool(0, [], traits, QueryTraits())], weights) for weights in (default_weights(), without)]
    assert [(one.uid, one.score) for one in both[0]] == [(one.uid, one.score) for one in both[1]]
