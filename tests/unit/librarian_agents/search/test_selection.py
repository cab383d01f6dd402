"""The smallest set of evidence, compared with trying all sets."""

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from librarian_agents.search.selection import MOST_EXACT, Cover, near_equal, select, smallest
from librarian_agents.search.types import Candidate, Evaluation, Need, Support


def candidates(*texts, **places):
    return {number: Candidate(number, text, **places) for number, text in enumerate(texts)}


def need(item, *supports, name=""):
    return Need(item, name, tuple(Support(index, quote, score) for index, quote, score in supports))


def chosen(needs, seen):
    return [one.temp_index for one in select(Evaluation(tuple(needs)), seen).selected]


SETS = st.lists(st.frozensets(st.integers(0, 5), min_size=1), min_size=1, max_size=8)


@settings(deadline=None)
@given(SETS)
def test_no_smaller_set_covers_as_much(sets):
    covers = [
        Cover(Candidate(place, f"text {place}"), {key: Support(place, "", 0.5) for key in own})
        for place, own in enumerate(sets)
    ]
    found = smallest(covers)
    wanted = frozenset().union(*sets)
    assert frozenset().union(*(cover.meets for cover in found)) == wanted
    fewest = next(
        size
        for size in range(1, len(sets) + 1)
        if any(frozenset().union(*some) == wanted for some in combinations(sets, size))
    )
    assert len(found) == fewest


def test_more_sets_than_can_be_tried_are_still_covered_without_anything_superfluous():
    count = 60
    covers = [
        Cover(Candidate(place, f"text {place}"), {key: Support(place, "", 0.5) for key in (place, (place + 1) % count)})
        for place in range(count)
    ]
    assert 2**count > MOST_EXACT
    found = smallest(covers)
    assert {key for cover in found for key in cover.meets} == set(range(count))
    for left_out in found:
        rest = {key for cover in found if cover is not left_out for key in cover.meets}
        assert rest != set(range(count))


def test_one_piece_that_covers_two_items_is_enough():
    seen = candidates("a", "b", "a and b")
    needs = [need("x", (0, "a", 1.0), (2, "a", 0.6)), need("y", (1, "b", 1.0), (2, "b", 0.6))]
    assert chosen(needs, seen) == [2]


def test_of_two_as_small_sets_the_surer_one_is_taken():
    assert chosen([need("x", (0, "a", 0.6), (1, "a", 0.9))], candidates("a one", "a two")) == [1]


def test_of_two_as_sure_sets_the_one_from_more_sources_is_taken():
    seen = {
        0: Candidate(0, "a first", source="one"),
        1: Candidate(1, "b first", source="one"),
        2: Candidate(2, "b elsewhere", source="two"),
    }
    assert chosen([need("x", (0, "a", 0.9)), need("y", (1, "b", 0.9), (2, "b", 0.9))], seen) == [0, 2]


def test_the_same_page_of_the_same_source_is_given_once():
    seen = {
        0: Candidate(0, "the definition, as the page says", source="lecture", page="4"),
        1: Candidate(1, "again the definition in other words", source="lecture", page="4"),
    }
    needs = [need("x", (0, "definition", 0.9)), need("y", (0, "page", 0.9), (1, "other words", 0.9))]
    assert chosen(needs, seen) == [0]


def test_nearly_the_same_text_is_given_once_although_each_was_found_for_another_item():
    text = "The coefficient of determination is the share of variance that the model explains"
    seen = candidates(f"{text}.", f"{text}!")
    assert chosen([need("x", (0, "share of variance", 0.9)), need("y", (1, "model explains", 0.9))], seen) == [0]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("R² is the share of variance.", "R2 is the share of variance", True),
        ("the meeting is on 3 May at noon in room four", "the meeting is on 4 May at noon in room four", False),
        ("決定係数は当てはまりの良さを表す。", "決定係数は、当てはまりの良さを表す", True),
        ("a long text about one thing and nothing else", "another text", False),
        ("", "", True),
    ],
)
def test_near_equal_texts(one, other, same):
    assert near_equal(one, other) is same


def test_what_was_not_seen_or_is_quoted_wrongly_is_never_selected():
    needs = [need("x", (99, "a", 1.0)), need("y", (0, "never said", 1.0)), need("z", (0, " ", 1.0))]
    assert chosen(needs, candidates("a text")) == []


def test_why_names_each_item_and_quotes_the_span():
    seen = candidates("R2 is defined as a share. It lies between 0 and 1.")
    needs = [
        need("definition", (0, "defined as a share", 1.0)),
        need("range", (0, "between 0\n and 1", 1.0)),
        need("share", (0, "defined as a share", 1.0), name="of what"),
    ]
    (only,) = select(Evaluation(tuple(needs)), seen).selected
    assert only.why == 'definition, share (of what): "defined as a share"; range: "between 0 and 1"'


def test_a_long_quote_is_cut():
    seen = candidates("word " * 200)
    (only,) = select(Evaluation((need("x", (0, "word " * 200, 1.0)),)), seen).selected
    assert only.why.endswith('…"')
    assert len(only.why) < 260


def test_an_item_of_two_needs_lists_both_pieces():
    seen = candidates("the film was made by X", "X was born in May")
    needs = [need("birthday", (0, "made by X", 1.0)), need("birthday", (1, "born in May", 1.0))]
    found = select(Evaluation(tuple(needs)), seen)
    assert found.coverage == {"birthday": (0, 1)}
