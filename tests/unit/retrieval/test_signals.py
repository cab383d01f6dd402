from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.signals import QueryTraits, Traits, query_traits, scaled, signals

NOTHING = QueryTraits()
MAY = datetime(2023, 5, 8, 13, tzinfo=UTC)


def value(name, pool, query=NOTHING):
    return dict(zip(pool, signals(pool, query)[name], strict=True))


@given(st.lists(st.floats(-1e6, 1e6), min_size=2))
def test_scaled_values_keep_their_order_within_0_and_1(values):
    """The best is 1, the worst 0, unless all are equal."""
    moved = scaled(values)
    assert all(0 <= one <= 1 for one in moved)
    assert sorted(range(len(values)), key=lambda i: (values[i], i)) == sorted(
        range(len(values)), key=lambda i: (moved[i], values[i], i)
    )


def test_equal_values_tell_nothing():
    assert scaled([3.0, 3.0]) == [0.0, 0.0]
    assert scaled([3.0], when_equal=1.0) == [1.0]
    assert scaled([]) == []


def test_small_differences_of_cosines_stay_small():
    """Two items of a small namespace, both noise: neither is the best match there can be."""
    assert value("vector", {"a": Traits(cosine=0.40), "b": Traits(cosine=0.42)})["b"] == pytest.approx(0.1)


def test_a_candidate_without_a_vector_counts_as_the_worst():
    """Not embedded yet is no reason to stand above what is."""
    assert value("vector", {"a": Traits(cosine=0.2), "b": Traits(), "c": Traits(cosine=0.6)}) == {
        "a": 0,
        "b": 0,
        "c": 1,
    }


def test_only_the_author_whom_the_query_names_is_preferred():
    pool = {"a": Traits(author="Caroline"), "b": Traits(author="Melanie"), "c": Traits()}
    assert value("author", pool, query_traits("When did Caroline paint?", ["Caroline"])) == {"a": 1, "b": 0, "c": 0}
    assert value("author", pool, query_traits("Caroline and Melanie?", ["Caroline", "Melanie"])) == {
        "a": 0,
        "b": 0,
        "c": 0,
    }


def test_neighbours_are_turns_of_the_same_session_only():
    """The turn before lends its keyword score; one of another session, or another conversation, does not."""
    first = Traits(keyword=1.0, conversation="c", session="1", position=4)
    after = Traits(keyword=0.1, conversation="c", session="1", position=5)
    other = Traits(keyword=0.1, conversation="c", session="2", position=5)
    elsewhere = Traits(keyword=0.1, conversation="d", session="1", position=5)
    pool = {"first": first, "after": after, "other": other, "elsewhere": elsewhere}
    assert value("previous_keyword", pool) == {"first": 0, "after": 1, "other": 0, "elsewhere": 0}


def test_what_belongs_to_no_conversation_stands_for_itself():
    """Facts and memories are not one big conversation, and do not fall behind turns for want of neighbours."""
    pool = {
        "fact": Traits(keyword=1.0, cosine=0.9),
        "memory": Traits(keyword=0.0, cosine=0.1),
        "turn": Traits(keyword=0.5, cosine=0.5, conversation="c", session="1", position=1),
    }
    for name in ("session_keyword", "previous_keyword", "session_vector"):
        assert (value(name, pool)["fact"], value(name, pool)["memory"]) == (1.0, 0.0)


@pytest.mark.parametrize(
    ("query", "overlap"),
    [
        ("What happened in May 2023?", 1.0),
        ("What happened on 8 May 2023?", 1.0),
        ("What happened on 9 May 2023?", 2 / 3),
        ("What may happen?", 0.0),
        ("Which 8 things?", 0.0),
        ("2023年5月8日に何がありましたか", 1.0),
        ("What happened?", 0.0),
    ],
)
def test_dates_of_the_query_are_met_by_when_it_happened(query, overlap):
    """Years and months, days only beside a month; English and Japanese."""
    pool = {"a": Traits(day=MAY), "b": Traits()}
    assert value("date", pool, query_traits(query, [])) == {"a": pytest.approx(overlap), "b": 0.0}


@pytest.mark.parametrize("query", ["When did it start?", "How long was it down?", "いつ始まりましたか"])
def test_words_of_time_count_where_the_query_asks_for_one(query):
    pool = {"a": Traits(tells_time=True), "b": Traits()}
    assert value("time_words", pool, query_traits(query, [])) == {"a": 1.0, "b": 0.0}
    assert value("time_words", pool, query_traits("What happened?", [])) == {"a": 0.0, "b": 0.0}
