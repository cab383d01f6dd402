"""Answers cut to a number of tokens."""

import copy
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from librarian.mcp.token_budget import MARK, tokens, within


def size(answer: Any) -> int:
    return tokens(msgspec.json.encode(answer).decode())


hits = st.lists(
    st.fixed_dictionaries({"uid": st.text(max_size=20), "text": st.text(max_size=2000), "score": st.floats(0, 1)}),
    max_size=20,
)


@given(
    st.fixed_dictionaries({"results": hits, "notes": st.lists(st.text(max_size=200), max_size=3)}),
    st.integers(300, 9000),
)
def test_a_cut_answer_fits_and_is_a_beginning_of_the_whole(answer: dict[str, Any], most: int):
    whole = copy.deepcopy(answer)
    cut = within(answer, most)
    assert size(answer) <= most
    assert bool(cut) == (answer != whole)
    for name in ("results", "notes"):
        assert len(answer[name]) == len(whole[name]) - cut.elements.get(f"$.{name}", 0)
        assert len(answer[name]) > 0 or not whole[name]
    for kept, full in zip(answer["results"], whole["results"], strict=False):
        assert kept["uid"] == full["uid"]
        assert kept["text"] == full["text"] or full["text"].startswith(kept["text"].removesuffix(MARK))


def test_the_worst_hits_go_first():
    answer = {"results": [{"uid": str(n), "text": "word " * 100} for n in range(10)]}
    cut = within(answer, 1000)
    assert [hit["uid"] for hit in answer["results"]] == [str(n) for n in range(len(answer["results"]))]
    assert cut.elements == {"$.results": 10 - len(answer["results"])}
    assert cut.message(1000).startswith("Left out to stay below 1000 tokens: the last ")


def test_the_end_of_a_single_long_text_goes():
    answer = {"results": [{"uid": "a", "text": "長い文章。" * 1000}]}
    cut = within(answer, 500)
    assert cut.texts == ["$.results[0].text"]
    assert size(answer) <= 500
    assert size(answer) > 400


def test_what_cannot_be_cut_stays():
    answer = {"counts": {str(n): n for n in range(500)}}
    assert not within(answer, 10)
    assert len(answer["counts"]) == 500


def test_another_script_takes_more_tokens():
    assert tokens("決定係数") == 4
    assert tokens("coefficients") == 4
