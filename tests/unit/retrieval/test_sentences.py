"""How much of a query one sentence says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.sentences import Passage, coverage, terms

QUERY = "When did Ada paint the red boat?"


def shares(query: str, *texts: str, head: str = "") -> list[float]:
    return coverage(terms(query), [Passage(head, text) for text in texts])


def test_terms_are_stems_without_function_words_and_pairs_of_cjk_letters():
    assert terms("When did Ada paint the boats?") == {"ada", "paint", "boat"}
    assert terms("猫 API 請求書") == {"猫", "api", "請求", "求書"}
    assert terms("the of and 🙂 ...") == frozenset()


def test_one_sentence_that_says_it_all_beats_two_that_share_it():
    """An index sees no difference between the two."""
    together, apart = "Ada painted the red boat. It rained.", "Ada slept. The paint was red. A boat left."
    best, worse = shares(QUERY, together, apart)
    assert best == 1
    assert worse < best


@pytest.mark.parametrize("end", ["。", "！", "？", "! ", "? ", ". ", "\n"])
def test_what_ends_a_sentence(end):
    one, two = shares("red boat", f"red{end}boat", "red boat")
    assert one < two == 1


def test_a_dot_inside_a_name_ends_nothing():
    assert shares("pool size", "set pool.size to nine") == [1]


def test_the_head_is_said_in_every_sentence():
    """A title, author or caption tells what all of the text is about."""
    assert shares(QUERY, "Nobody knows. It is a red boat, painted.", head="Ada") == [1]


def test_forms_of_a_word_are_the_same_and_longer_words_are_not():
    forms = shares("painting", "paint", "She paints", "painted", "PAINTING", "painter's", "repaint", "paintbox")
    assert forms == [1, 1, 1, 1, 0, 0, 0]
    assert shares("activities", "an activity") == [1]
    assert shares("art", "an article") == [0]


def test_rare_words_weigh_more_than_common_ones():
    """All hold "deploy"; one of them also names what the query is about."""
    values = shares("deploy exhausted", "deploy", "deploy", "deploy", "exhausted")
    assert values[3] > values[0] > 0


def test_japanese_endings_weigh_less_than_what_they_end():
    kanji, endings = shares("配属されました", "配属", "されました")
    assert kanji > 0.2
    assert shares("写真されました", "写真", "され")[0] > shares("写真されました", "写真", "され")[1]
    assert endings > 0


@given(st.text(max_size=80), st.lists(st.text(max_size=200), max_size=6))
def test_shares_lie_in_0_to_1_whatever_the_texts_hold(query, texts):
    values = shares(query, *texts)
    assert len(values) == len(texts)
    assert all(0 <= value <= 1.000001 for value in values)


@given(st.text(alphabet="ab 。.\n漢字かな", min_size=1, max_size=30))
def test_a_text_that_is_the_query_in_one_sentence_says_all_of_it(text):
    """Ends of sentences aside, nothing of a text is lost to itself."""
    one = text.replace("。", "").replace(".", "").replace("\n", "")
    assert shares(one, one) == [pytest.approx(1.0 if terms(one) else 0.0)]
