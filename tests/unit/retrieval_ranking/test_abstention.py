import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.search import KeywordQuery, VectorQuery
from graph.types import FoundItem, Kind
from retrieval.abstention import remaining
from retrieval.arms import PlannedQuery
from retrieval.fusion import Share
from retrieval.signals import Asked
from retrieval.thresholds import DEFAULT_MIN, AdaptiveBound, FixedBound, ladder
from retrieval.types import Exempt, ScoredItem

VECTOR = VectorQuery("space", [1.0])


def planned(text="why did the deploy fail", number=0, vector=VECTOR):
    return PlannedQuery(number, text, vector, vector, None, KeywordQuery(), {}, Asked())


def hit(similarity, text="something", query=0):
    item = FoundItem(text, Kind.MEMORY, {"text": text})
    return ScoredItem(item, 1.0, similarity, [Share(query, "keyword", 1, 1.0, 1.0)])


hits_of = st.lists(st.none() | st.integers(0, 100).map(lambda number: number / 100), max_size=60).map(
    lambda similarities: [hit(one) for one in similarities]
)


@given(hits_of, st.integers(1, 50))
def test_an_adaptive_threshold_is_that_of_searching_again_at_every_step(hits, limit):
    """The first step at which a search with that fixed bound has four fifths of the limit, else the lowest."""
    found = remaining(hits, [planned()], AdaptiveBound(), limit=limit).threshold
    bounds = ladder(0.75, 0.35)
    counts = [len(remaining(hits[:limit], [planned()], FixedBound(bound), limit=limit).hits) for bound in bounds]
    enough = [place for place, count in enumerate(counts) if count >= max(1, int(limit * 0.8))]
    place = enough[0] if enough else len(bounds) - 1
    assert (found.value, found.iterations) == (bounds[place], place + 1)
    assert found.outcome == ("converged" if enough else "exhausted")


@given(hits_of, st.integers(1, 50))
def test_what_stays_keeps_its_order_and_reaches_the_lowest_step(hits, limit):
    """Nothing is brought in, nothing changes place; what goes is below, and only that."""
    left = remaining(hits, [planned()], AdaptiveBound(), limit=limit)
    similarities = [one.similarity for one in hits]
    assert [one.similarity for one in left.hits] == [one for one in similarities if one is None or one >= DEFAULT_MIN]
    assert [one.similarity for one in left.below] == [
        one for one in similarities if one is not None and one < DEFAULT_MIN
    ]


def test_zero_is_a_bound_that_keeps_everything():
    assert len(remaining([hit(0.0), hit(0.2)], [planned()], FixedBound(0.0), limit=2).hits) == 2


def test_a_given_bound_is_kept_to_the_hundredth():
    left = remaining([hit(0.5), hit(0.4999)], [planned()], FixedBound(0.5), limit=2)
    assert [one.similarity for one in left.hits] == [0.5]


@pytest.mark.parametrize(
    ("kept", "why"),
    [
        (hit(0.1, "closed with HRB-412"), Exempt.WORDS),
        (hit(None, "not encoded yet"), Exempt.NO_VECTOR),
        (hit(0.1, "found by the other query", query=1), Exempt.UNREAD_QUERY),
    ],
)
def test_what_similarity_says_nothing_about_stays(kept, why):
    """A ticket number, an item without a vector, what a query found that the encoder cannot read."""
    queries = [planned("what was HRB-412"), planned("請求書", number=1, vector=None)]
    left = remaining([kept, hit(0.1)], queries, FixedBound(0.6), limit=2)
    assert [(one.item, one.exempt) for one in left.hits] == [(kept.item, why)]


@pytest.mark.parametrize("bound", [None, AdaptiveBound(), FixedBound(0.9)])
def test_without_any_vector_nothing_is_thrown_away(bound):
    """Keyword search alone knows no similarity."""
    hits = [hit(None), hit(0.1)]
    left = remaining(hits, [planned(vector=None)], bound, limit=2)
    assert (left.hits, left.below, left.threshold) == (hits, [], None)
