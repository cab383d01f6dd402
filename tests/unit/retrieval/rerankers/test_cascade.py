"""Reranking from the top: what is scored, when it stops, and when the fused order stays."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.item import item_of
from graph.types import Kind
from retrieval.rerankers.base import PairScorer, Score, scored
from retrieval.rerankers.cascade import RerankStatus, candidate_text, is_settled, pool_size, rerank_pool
from retrieval.rerankers.errors import RerankerBroke, RerankerMisconfigured

VALUES = st.lists(st.floats(0, 1), max_size=60)


class Scripted(PairScorer):
    """Scores "0.25" as 0.25 and "?0.25" as a guess; "wait" never ends, "break" fails, "bad" is a text that it cannot
    score.
    """

    def __init__(self, batch_size=5):
        self.batch_size = batch_size
        self.scored = 0

    async def score_pairs(self, _query, documents):
        if "wait" in documents:
            await asyncio.Event().wait()
        if "break" in documents:
            raise RerankerMisconfigured
        self.scored += len(documents)
        return scored([_score(text) for text in documents])


def _score(text):
    if text == "bad":
        return RerankerBroke()
    return Score(float(text.lstrip("?")), certain=not text.startswith("?"))


async def run(texts, *, limit, reranker=None, deadline_s=5.0, **options):
    return await rerank_pool(reranker or Scripted(), "q", texts, limit=limit, deadline_s=deadline_s, **options)


@given(VALUES, st.integers(1, 12), st.integers(1, 9))
async def test_every_candidate_comes_back_once_and_scored_ones_are_in_order(values, limit, batch_size):
    outcome = await run([str(value) for value in values], limit=limit, reranker=Scripted(batch_size))
    assert sorted(outcome.order) == list(range(len(values)))
    ranked = [values[position] for position in outcome.order if position in outcome.scores]
    assert ranked == sorted(ranked, reverse=True)
    assert outcome.reranked or list(outcome.order) == list(range(len(values)))
    assert all(values[position] == score for position, score in outcome.scores.items())


@pytest.mark.parametrize(
    ("count", "limit", "options", "size"),
    [
        (100, 10, {}, 30),
        (25, 10, {}, 25),
        (10, 10, {}, 0),
        (3, 50, {}, 0),
        (500, 50, {}, 100),
        (30, 10, {"oversample": 1.0}, 0),
        (30, 10, {"oversample": 1.25}, 13),
        (30, 10, {"cap": 12}, 12),
    ],
)
def test_the_pool_is_some_candidates_for_each_hit(count, limit, options, size):
    assert pool_size(count, limit=limit, **options) == size


async def test_nothing_is_asked_when_all_candidates_are_shown_anyway():
    reranker = Scripted()
    outcome = await run(["0.1", "0.9"], limit=2, reranker=reranker)
    assert (outcome.status, reranker.scored) == (RerankStatus.SKIPPED, 0)


async def test_it_stops_once_as_many_as_are_shown_brought_nothing():
    reranker = Scripted(batch_size=2)
    values = ["0.9", "0.8", "0.7", *["0.1"] * 30]
    outcome = await run(values, limit=3, oversample=10, reranker=reranker)
    assert outcome.status is RerankStatus.SETTLED
    assert reranker.scored == 6
    assert list(outcome.order[:3]) == [0, 1, 2]


@given(VALUES, st.integers(1, 10))
def test_settled_means_that_the_last_ones_stay_behind_the_shown(values, limit):
    settled = is_settled(values, limit)
    if settled:
        assert len(values) >= 2 * limit
        assert sorted(values, reverse=True)[:limit] == sorted(values[:-limit], reverse=True)[:limit]


async def test_what_was_scored_in_time_stands_before_the_rest():
    outcome = await run(["0.1", "0.9", "wait", "0.5"], limit=1, oversample=4, reranker=Scripted(2), deadline_s=0.05)
    assert outcome.status is RerankStatus.PARTIAL
    assert list(outcome.order) == [1, 0, 2, 3]
    assert dict(outcome.scores) == {0: 0.1, 1: 0.9}


async def test_nothing_in_time_leaves_the_fused_order():
    outcome = await run(["wait", "0.9"], limit=1, deadline_s=0.01)
    assert (outcome.status, outcome.reranked, list(outcome.order)) == (RerankStatus.LATE, False, [0, 1])


async def test_a_failure_in_the_middle_leaves_the_fused_order():
    outcome = await run(["0.1", "0.9", "0.2", "break"], limit=1, oversample=4, reranker=Scripted(2))
    assert (outcome.status, list(outcome.order)) == (RerankStatus.FAILED, [0, 1, 2, 3])
    assert (outcome.error_code, dict(outcome.scores)) == ("reranker_misconfigured", {})


@pytest.mark.parametrize("batch_size", [1, 2, 5])
async def test_a_text_that_breaks_the_reranker_costs_its_own_score(batch_size):
    """It stands behind what was scored, even where it is first, or alone in its batch."""
    outcome = await run(["bad", "0.1", "0.9", "0.5"], limit=1, oversample=4, reranker=Scripted(batch_size))
    assert (outcome.status, list(outcome.order)) == (RerankStatus.PARTIAL, [2, 3, 1, 0])
    assert (dict(outcome.scores), list(outcome.faults)) == ({1: 0.1, 2: 0.9, 3: 0.5}, ["reranker_broke"])
    assert outcome.reason == "scored 3 of 4: the reranker fails on the others"


@pytest.mark.parametrize("batch_size", [1, 5])
async def test_a_reranker_that_fails_at_all_texts_is_given_up_soon(batch_size):
    reranker = Scripted(batch_size)
    outcome = await run(["bad"] * 40, limit=10, reranker=reranker)
    assert (outcome.status, outcome.error_code) == (RerankStatus.FAILED, "reranker_broke")
    assert reranker.scored <= 5


@pytest.mark.parametrize("texts", [["0.1", "0.9"], ["0.1", "break"], ["wait", "0.9"], ["bad", "bad"]])
async def test_all_candidates_given_to_the_reranker_count(texts):
    """A failed call was asked for all the same."""
    assert (await run(texts, limit=1, deadline_s=0.05)).pool == 2


async def test_a_guess_among_the_shown_leaves_the_fused_order_and_one_below_does_not():
    assert (await run(["0.1", "?0.9", "0.2"], limit=1)).status is RerankStatus.UNCERTAIN
    assert (await run(["0.1", "?0.05", "0.2"], limit=1)).order[0] == 2


async def test_one_score_for_all_leaves_the_fused_order():
    assert (await run(["0.5", "0.5", "0.5"], limit=1)).status is RerankStatus.UNCERTAIN
    assert (await run(["0.5", "0.5", "0.4"], limit=1)).reranked


@pytest.mark.parametrize(
    ("kind", "properties", "text"),
    [
        (Kind.FACT, {"subject": "Ann", "predicate": "likes", "object": "tea", "text": "x"}, "Ann likes tea"),
        (Kind.FACT, {"subject": "Ann", "predicate": "sleeps", "object": None, "text": "x"}, "Ann sleeps"),
        (Kind.FACT, {"text": "Ann likes tea"}, "Ann likes tea"),
        (Kind.MESSAGE, {"author_name": "Ann", "text": "hi"}, "Ann: hi"),
        (Kind.MESSAGE, {"text": "hi"}, "Unknown: hi"),
        (Kind.MEMORY, {"text": "hi"}, "hi"),
    ],
)
def test_an_item_is_read_as_a_sentence(kind, properties, text):
    assert candidate_text(item_of({"namespace": "n", "uid": "u", "kind": kind, **properties})) == text
