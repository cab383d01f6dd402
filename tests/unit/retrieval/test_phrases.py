"""Phrases that say what one word says."""

from importlib.resources import files

import pytest

from retrieval.words import SAME_GROUP, words


def keys(text):
    return [word.key for word in words(text)]


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("We turned their offer down.", "They rejected their offer"),
        ("the party was called off", "the party was cancelled"),
        ("I can't make it to the party", "I attend the party"),
        ("Who looks after the roof?", "Who is responsible for the roof?"),
        ("the children bought knives", "the child buys a knife"),
    ],
)
def test_a_phrase_or_an_irregular_form_says_what_one_word_says(said, meant):
    assert sorted(keys(said)) == sorted(keys(meant))


def test_the_words_of_a_phrase_say_nothing_else():
    assert "turn" not in keys("We turned it down.")
    assert "turn" in keys("The camera turns by itself, the road goes down.")


def test_a_phrase_ends_within_a_few_words():
    assert "reject" not in keys("We turned on the lamp that stands beside the stairs down there.")


@pytest.mark.parametrize(("one", "other"), [("poultry", "chicken"), ("overalls", "白衣"), ("遺言", "testament")])
def test_words_of_a_narrow_group_stand_for_each_other(one, other):
    (asked,), (told,) = words(one), words(other)
    shared = dict(asked.others).keys() & dict(told.others).keys()
    assert max(dict(asked.others)[term] for term in shared) == SAME_GROUP


def test_each_line_names_a_word_and_what_says_it():
    for line in files("retrieval").joinpath("phrases.txt").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            word, _, phrases = line.partition(":")
            own = [phrase.strip() for phrase in phrases.split(",")]
            assert word.isalpha(), line
            assert all(own), line
            assert not any(phrase.startswith("..") for phrase in own), line
