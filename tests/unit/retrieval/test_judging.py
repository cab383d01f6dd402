"""The candidates of a search as a judgement wants them."""

from datetime import UTC, datetime

import pytest

from retrieval.answering import Judgement, Verdict, best_of
from retrieval.fusion import Fused
from retrieval.judging import READ_CHARS, candidate_of, turns_of
from retrieval.pipeline import NEARLY_BEST, _beside
from retrieval.sentences import Passage
from retrieval.signals import Traits


def turn(text, position, *, conversation="c", session="s", keyword=0.0, when=None):
    return Traits(
        conversation=conversation,
        session=session,
        position=position,
        keyword=keyword,
        passage=Passage("", text),
        when=when,
    )


def candidate(pool, uid):
    return candidate_of(Fused(uid, 0.5, ()), pool[uid], turns_of(pool), None, ())


def test_turns_within_three_positions_count_as_said_around():
    """In their order, without the candidate's own text."""
    pool = {str(position): turn(f"turn {position}", position) for position in range(1, 11)}
    assert candidate(pool, "5").around == [f"turn {number}" for number in (2, 3, 4, 6, 7, 8)]
    assert candidate(pool, "1").around == ["turn 2", "turn 3", "turn 4"]
    assert candidate(pool, "5").before == ["turn 2", "turn 3", "turn 4"]


def test_without_positions_what_was_said_within_an_hour_stands_around():
    """In the order of time."""
    sent = {"late": (9, 50), "first": (9, 0), "early": (7, 59), "between": (9, 20)}
    pool = {uid: turn(uid, None, when=datetime(2026, 6, 1, *at, tzinfo=UTC)) for uid, at in sent.items()}
    assert candidate(pool, "between").around == ["first", "late"]
    assert candidate(pool, "between").before == ["first"]
    assert candidate(pool, "early").around == []


@pytest.mark.parametrize(
    "other", [{"conversation": "another"}, {"session": "another"}, {"conversation": None}, {"position": None}], ids=str
)
def test_turns_of_another_session_do_not_count(other):
    """Nor does what stands in no conversation."""
    pool = {"a": turn("asked", 1), "b": turn("beside", **{"position": 2} | other)}
    assert candidate(pool, "a").around == []
    assert candidate(pool, "b").around == []


def test_a_long_turn_counts_with_its_beginning():
    """The first 300 characters."""
    pool = {"a": turn("asked", 1), "b": turn("x" * 1_000, 2)}
    assert candidate(pool, "a").around == ["x" * 300]


def test_the_keyword_score_speaks_for_what_was_not_read_of_a_text():
    """A text that was read whole speaks for itself."""
    pool = {"long": turn("x" * READ_CHARS, 1, keyword=0.7), "short": turn("x", 2, keyword=0.7)}
    assert (candidate(pool, "long").unread, candidate(pool, "short").unread) == (0.7, 0.0)


@pytest.mark.parametrize(("score", "support", "stays"), [(0.79, 0.1, False), (0.81, 0.1, True), (0.1, 0.25, True)])
def test_what_answers_nearly_as_well_as_the_best_needs_no_other_backing(score, support, stays):
    """A text that asks, or knows nothing, is no best one."""
    best = Judgement("best", 1.0, 0.9, Verdict.ANSWERS, "")
    asks = Judgement("asks", 2.0, 0.9, Verdict.REPEATS, "")
    other = Judgement("other", score, support, Verdict.SHARES_TOPIC, "")
    assert _beside(other, least=NEARLY_BEST * best_of([best, asks, other]), unjudged=False) is stays
    assert best_of([asks]) == 1.0
