"""Rewordings of a text are told by its words, under a secret salt; how many, and how many others, is measured."""

import json
from pathlib import Path

import pytest

from graph.likeness import LEAST_SHARED, signature

SALTS = [f"{number:032x}" for number in range(1, 21)]
WORLD = json.loads((Path(__file__).parents[2] / "data" / "rewordings.json").read_text(encoding="utf-8"))
TEXTS = [each["text"] for each in WORLD]


def recognised(texts):
    """The share of (text of the world, its rewordings) whose signatures have enough in common, over all salts."""
    found = []
    for salt in SALTS:
        known = [set(signature(salt, text)) for text in TEXTS]
        found += [any(len(each & set(signature(salt, text))) >= LEAST_SHARED for each in known) for text in texts]
    return sum(found) / len(found)


@pytest.mark.parametrize(("how", "least"), [("edit", 0.95), ("order", 0.99), ("longer", 0.95)])
def test_rewordings_are_recognised(how, least):
    """In English and in Japanese: another order, other inflections, additions."""
    assert recognised([each["rewordings"][how] for each in WORLD]) >= least


def test_synonyms_are_other_words():
    """Rewordings documented as not recognised: no promise."""
    assert 0.05 <= recognised([each["rewordings"]["synonym"] for each in WORLD]) <= 0.3


def test_others_on_the_same_matter_are_seldom_taken_for_it():
    """The same people, places and things, and another statement."""
    assert recognised([text for each in WORLD for text in each["others"]]) <= 0.15


def test_a_signature_says_nothing_without_its_salt():
    """It differs from salt to salt, and a text of few words has none."""
    text = TEXTS[0]
    assert not set(signature(SALTS[0], text)) & set(signature(SALTS[1], text))
    assert signature(SALTS[0], text) == signature(SALTS[0], text.upper())
    assert signature(SALTS[0], "ok, see you tomorrow") == []
