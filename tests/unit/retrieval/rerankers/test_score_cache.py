"""Scores are computed once for as long as everything they depend on is the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.rerankers.base import PairScorer, Score
from retrieval.rerankers.cache import CachedReranker, ScoreCache, score_key

TEXT = st.text(st.characters(), max_size=5)


class Counting(PairScorer):
    """Scores a text by its length; "?" is a guess."""

    batch_size = 4

    def __init__(self):
        self.asked: list[str] = []
        self.model = "m"

    async def identity(self):
        return self.model

    async def score_pairs(self, _query, documents):
        self.asked += documents
        return [Score(len(text) / 10, certain=text != "?") for text in documents]


@pytest.fixture
def counting():
    return Counting()


async def test_only_what_is_missing_is_asked_and_doubles_once(counting):
    cached = CachedReranker(counting)
    scores = await cached.score_pairs("q", ["a", "bb", "a"])
    assert [score.value for score in scores] == [0.1, 0.2, 0.1]
    assert await cached.score_pairs("q", ["ccc", "bb", "a"]) == [Score(0.3), Score(0.2), Score(0.1)]
    assert counting.asked == ["a", "bb", "ccc"]


async def test_another_query_or_model_is_another_score(counting):
    cached = CachedReranker(counting)
    await cached.score_pair("q", "a")
    await cached.score_pair("other", "a")
    counting.model = "another"
    await cached.score_pair("q", "a")
    assert counting.asked == ["a"] * 3


async def test_a_guess_is_asked_again(counting):
    cached = CachedReranker(counting)
    await cached.score_pair("q", "?")
    await cached.score_pair("q", "?")
    assert counting.asked == ["?"] * 2


def test_the_least_recently_used_score_goes_first():
    cache = ScoreCache(2)
    cache.put(b"a", Score(0.1))
    cache.put(b"b", Score(0.2))
    assert cache.get(b"a")
    cache.put(b"c", Score(0.3))
    assert (cache.get(b"a"), cache.get(b"b"), len(cache)) == (Score(0.1), None, 2)


@given(st.tuples(TEXT, TEXT, TEXT), st.tuples(TEXT, TEXT, TEXT))
def test_keys_are_equal_only_for_equal_parts(one, other):
    assert (score_key(*one) == score_key(*other)) == (one == other)
