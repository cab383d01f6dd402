from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from librarian_agents.answer.citations import CitationChecker, uncited_sentences

KNOWN = {"m-1": "m-1", "deploy-9": "m-1", "m-2": "m-2", "1": "m-1", "2": "m-2"}


def checked(*pieces):
    checker = CitationChecker(KNOWN)
    text = "".join([*(checker.feed(piece) for piece in pieces), checker.finish()])
    return text, checker.cited, checker.invented


FRAGMENTS = st.sampled_from(
    [
        *(
            "[memory: m-1]",
            "[memory:m-2]",
            "[memory: gone]",
            "[memory: m-1, gone]",
            "【Memory：deploy-9】",
            "[memory: ]",
        ),
        *(
            "[",
            "]",
            "[[",
            "[mem",
            "memory",
            ": ",
            "[memory: ",
            "[ memory : 2 ]",
            " ",
            "  \n",
            "a",
            "It rained. ",
            "犬。",
        ),
    ]
)
TEXTS = st.lists(FRAGMENTS | st.text(max_size=3), max_size=12).map("".join)


@given(TEXTS, st.lists(st.integers(0, 200), max_size=12))
def test_any_pieces_lead_to_the_same_text_and_report(text, cuts):
    edges = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    pieces = [text[begin:end] for begin, end in pairwise(edges)]
    assert checked(*pieces) == checked(text)
    assert checked(*text) == checked(text)


@given(TEXTS)
def test_what_is_left_cites_known_ids_alone(text):
    result, cited, invented = checked(text)
    again = CitationChecker(KNOWN)
    again.feed(result)
    assert set(cited) <= {"m-1", "m-2"}
    assert not set(invented) & set(KNOWN)
    assert set(again.cited) <= set(cited)


def test_a_known_citation_stays_and_is_written_in_one_way():
    assert checked("It took 16 minutes 【Memory：deploy-9】, then [memory:m-2 ; m-1].") == (
        "It took 16 minutes [memory: m-1], then [memory: m-2] [memory: m-1].",
        ["m-1", "m-2"],
        [],
    )


def test_an_invented_citation_goes_with_the_blank_before_it():
    assert checked("It rained [memory: m-9]. Then [memory: m-1, m-8] not.") == (
        "It rained. Then [memory: m-1] not.",
        ["m-1"],
        ["m-9", "m-8"],
    )


def test_a_citation_cut_short_goes_and_counts_as_invented():
    assert checked("It rained [memory: m-") == ("It rained", [], ["m-"])


def test_text_is_let_through_as_soon_as_it_cannot_be_a_citation():
    checker = CitationChecker(KNOWN)
    assert [checker.feed(piece) for piece in ("a [m", "em", "ento] b", " [memory:", " 1", "] c")] == [
        *("a", "", " [memento] b", "", "", " [memory: m-1] c"),
    ]


def test_brackets_of_other_things_stay():
    text = "see [1] and [memo: x] and list[memory] and [memory"
    assert checked(text) == (text, [], [])


def test_sentences_without_a_citation_are_found():
    english = "It rained. [memory: m-1] Nobody knew! The v2.1 pod died [memory: m-2].\n- a list item\n"
    text = english + "雨だった。[memory: m-1]晴れた。"
    assert uncited_sentences(text) == ["Nobody knew!", "- a list item", "晴れた。"]
