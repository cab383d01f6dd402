from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from librarian_agents.sweep.causal_candidates import CandidatePair, candidate_pairs
from librarian_agents.sweep.causal_types import Note

CATS = [Note("The cat", "a"), Note("sees ADR-12", "b"), Note("and ADR-12", "c"), Note("sleeps.", "d")]


def test_links_come_first_then_names_then_the_nearest():
    found = candidate_pairs(CATS, links=[("d", "a")], neighbours={"a": [("b", 0.4), ("d", 0.9)], "c": [("d", 0.7)]})
    assert found == [
        CandidatePair("a", "d", "link", 0.9),
        CandidatePair("b", "c", "name"),
        CandidatePair("c", "d", "neighbour", 0.7),
        CandidatePair("a", "b", "neighbour", 0.4),
    ]


def test_a_memory_that_names_anothers_uid_is_paired_with_it():
    assert candidate_pairs([Note("one", "mem-1"), Note("because of `mem-1`", "x")]) == [
        CandidatePair("mem-1", "x", "name")
    ]


def test_a_name_that_all_memories_hold_pairs_none_of_them():
    assert candidate_pairs([Note("the app.py", str(number)) for number in range(40)]) == []


def test_the_rarest_names_win_where_places_are_few():
    notes = [Note("ADR-1 A-1", "a"), Note("ADR-1", "b"), Note("ADR-1", "c"), Note("A-1", "z")]
    assert candidate_pairs(notes, per_item=1)[0] == CandidatePair("a", "z", "name")


UIDS = st.sampled_from(["a", "b", "c", "d", "e", "gone"])


@settings(deadline=None)
@given(
    st.lists(st.tuples(UIDS, UIDS), max_size=20),
    st.dictionaries(UIDS, st.lists(st.tuples(UIDS, st.floats(0, 1)), max_size=5), max_size=5),
    st.integers(1, 4),
)
def test_pairs_are_known_ordered_single_and_bounded(links, neighbours, per_item):
    notes = [Note(f"ADR-{number % 2}", uid) for number, uid in enumerate("abcde")]
    found = candidate_pairs(notes, links, neighbours, per_item=per_item)
    pairs = [(pair.first, pair.second) for pair in found]
    assert all(first < second for first, second in pairs)
    assert len(set(pairs)) == len(pairs)
    assert set().union(*pairs) <= set("abcde")
    assert max(Counter(uid for pair in pairs for uid in pair).values(), default=0) <= per_item


@pytest.mark.parametrize("notes", [[], [Note("alone ADR-1", "a")]])
def test_fewer_than_two_memories_make_no_pair(notes):
    assert candidate_pairs(notes) == []
