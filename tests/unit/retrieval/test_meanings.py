"""The meanings of words, beside which of them are the same."""

import pytest

from retrieval.meanings import SAME_MEANING, alike, gist
from retrieval.words import in_the_other_language, words


@pytest.mark.parametrize(
    ("asked", "near", "far"),
    [
        ("postponed", "delayed", "garden"),
        ("salary", "wages", "window"),
        ("契約", "contract", "garden"),
        ("fridge", "冷蔵庫", "予防接種"),
        ("果物", "キウイ fruit", "鉛筆"),
    ],
)
def test_words_of_one_meaning_stand_for_each_other_across_languages(asked, near, far):
    known = {word.key for word in words(f"{near} {far}")}
    found = {term: max(worth for _, worth in of) for term, of in alike(words(asked), known).items()}
    best = max(found, key=found.__getitem__)
    assert best in {word.key for word in words(near)}
    assert 0.3 < found[best] <= SAME_MEANING


def test_a_name_means_nobody_else():
    (name,) = words("Where is Rose")
    assert name.proper
    assert alike([name], {"flower", "rose"}) == {}


def test_what_is_not_known_means_nothing():
    assert alike(words("qwzrtx"), {"garden"}) == {}
    assert gist({"qwzrtx"}) is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("deadline for refunds", {"締め切り", "返金"}),
        ("PostgreSQL の締切", {"PostgreSQL", "deadline"}),
        ("quokka", set()),
    ],
)
def test_words_are_called_otherwise_in_the_other_language(text, words):
    found = set(in_the_other_language(text).split())
    assert words <= found
    assert bool(found) == bool(words)
