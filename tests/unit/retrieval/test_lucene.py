import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.lucene import MAX_TERMS, keyword_query

SAFE = re.compile(r'^search_text:\((?:(?:\w+|\w\*|"\w+(?: \w+)+"\^2)(?: |(?=\))))+\)$')


@given(st.text())
def test_only_words_and_our_own_operators_survive(query: str):
    found = keyword_query(query)
    for terms in (found.english, found.cjk, found.files):
        if terms is not None:
            assert SAFE.match(terms), terms
            assert terms == terms.lower()


@given(st.lists(st.text(alphabet="abcdefgh", min_size=1, max_size=4), min_size=33, max_size=80, unique=True))
def test_at_most_32_terms(words: list[str]):
    terms = keyword_query(" ".join(words)).english
    assert terms is not None
    assert len(terms.removeprefix("search_text:(").removesuffix(")").split()) <= MAX_TERMS


@pytest.mark.parametrize("query", ["", " ", "?!", "*", '"', "___", "\u0000", "🙂"])
def test_a_query_without_words_asks_nothing(query: str):
    assert keyword_query(query).empty


def test_topical_words_are_kept_and_names_preferred_as_phrases():
    assert keyword_query("Why did HRB-412 fail?").english == 'search_text:(hrb 412 fail "hrb 412"^2)'
    assert keyword_query("why did you").english == "search_text:(why did you)"


def test_operators_become_words():
    assert keyword_query("foo:bar AND (").english == 'search_text:(foo bar "foo bar"^2)'
    assert keyword_query('the "blue whale" OR').english == 'search_text:(blue whale "blue whale"^2)'


def test_camel_case_is_found_by_its_parts():
    assert keyword_query("getUserById").english == "search_text:(getuserbyid user id)"


def test_cjk_goes_to_its_index_and_plain_words_also_to_the_english_one():
    found = keyword_query("請求書 API の不具合")
    assert found.cjk == "search_text:(請求書 api の不具合)"
    assert found.english == "search_text:(api)"
    assert keyword_query("請求書の不具合").english is None


def test_one_cjk_letter_is_also_the_first_of_a_pair():
    """The cjk index holds pairs of letters: 船 alone would find nothing in 船は出ます."""
    assert keyword_query("船").cjk == "search_text:(船 船*)"
    assert keyword_query("船は").cjk == "search_text:(船は)"
