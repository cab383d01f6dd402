import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.search import KeywordQuery, VectorQuery
from retrieval.abstention import Near, remaining
from retrieval.arms import PlannedQuery
from retrieval.fusion import Fused, Share
from retrieval.sentences import Passage
from retrieval.signals import QueryTraits
from retrieval.thresholds import DEFAULT_MIN, AdaptiveBound, FixedBound, ladder
from retrieval.types import Exempt

VECTOR = VectorQuery("space", [1.0])


def planned(text="why did the deploy fail", number=0, vector=VECTOR):
    return PlannedQuery(number, text, vector, vector, None, KeywordQuery(), {}, QueryTraits())


def hit(similarity, text="something", query=0):
    return Near(Fused(text, 1.0, [Share(query, "keyword", 1, 1.0, 1.0)]), similarity, Passage(text=text))


hits_of = st.lists(st.none() | st.integers(0, 100).map(lambda number: number / 100), max_size=60).map(
    lambda similarities: [hit(one) for one in similarities]
)


@given(hits_of, st.integers(1, 50))
def test_an_adaptive_threshold_is_that_of_searching_again_at_every_step(hits, limit):
    """The first step at which a fixed bound leaves four fifths of the limit of the whole pool, else the lowest."""
    found = remaining(hits, [planned()], AdaptiveBound(), limit=limit).threshold
    bounds = ladder(0.75, 0.35)
    counts = [len(remaining(hits, [planned()], FixedBound(bound), limit=limit).kept) for bound in bounds]
    enough = [place for place, count in enumerate(counts) if count >= max(1, int(limit * 0.8))]
    place = enough[0] if enough else len(bounds) - 1
    assert (found.value, found.iterations) == (bounds[place], place + 1)
    assert found.outcome == ("converged" if enough else "exhausted")


@given(hits_of, st.integers(1, 50))
def test_what_stays_keeps_its_order_and_reaches_the_lowest_step(hits, limit):
    """Nothing is brought in, nothing changes place; what goes is below, and only that."""
    left = remaining(hits, [planned()], AdaptiveBound(), limit=limit)
    similarities = [one.similarity for one in hits]
    assert [one.similarity for one in left.kept] == [one for one in similarities if one is None or one >= DEFAULT_MIN]
    assert [one.similarity for one in left.below] == [
        one for one in similarities if one is not None and one < DEFAULT_MIN
    ]


def test_zero_is_a_bound_that_keeps_everything():
    assert len(remaining([hit(0.0), hit(0.2)], [planned()], FixedBound(0.0), limit=2).kept) == 2


def test_a_given_bound_is_kept_to_the_hundredth():
    left = remaining([hit(0.5), hit(0.4999)], [planned()], FixedBound(0.5), limit=2)
    assert [one.similarity for one in left.kept] == [0.5]


def test_a_distinctive_term_is_exempt_from_an_adaptive_bound_only():
    """A ticket number speaks for a hit where the service chooses the bound, not against the caller's own."""
    ticket = hit(0.1, "closed with HRB-412")
    for bound, kept in ((AdaptiveBound(), [Exempt.WORDS]), (FixedBound(0.6), [])):
        left = remaining([ticket], [planned("what was HRB-412")], bound, limit=2)
        assert [near.exempt for near in left.kept] == kept


@pytest.mark.parametrize(
    ("kept", "why"),
    [
        (hit(None, "not encoded yet"), Exempt.NO_VECTOR),
        (hit(0.1, "found by the other query", query=1), Exempt.UNREAD_QUERY),
    ],
)
def test_what_similarity_says_nothing_about_stays(kept, why):
    """An item without a vector, and what a query found that the encoder cannot read."""
    queries = [planned("what was HRB-412"), planned("請求書", number=1, vector=None)]
    left = remaining([kept, hit(0.1)], queries, FixedBound(0.6), limit=2)
    assert [(near.entry, near.exempt) for near in left.kept] == [(kept.entry, why)]


@pytest.mark.parametrize("bound", [None, AdaptiveBound(), FixedBound(0.9)])
def test_without_any_vector_nothing_is_thrown_away(bound):
    """Keyword search alone knows no similarity."""
    hits = [hit(None), hit(0.1)]
    left = remaining(hits, [planned(vector=None)], bound, limit=2)
    assert (left.kept, left.below, left.threshold) == (hits, [], None)
