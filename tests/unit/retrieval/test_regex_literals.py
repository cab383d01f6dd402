"""Literals that every match of a regular expression must hold."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.regex_literals import required_literals

LITERAL = st.text("abc.", min_size=1, max_size=3).map(re.escape)
QUANTIFIER = st.sampled_from(["", "", "*", "+", "?", "{2}", "{0}", "{1,2}", "{0,1}", "*?", "+?"])


def grown(inner):
    group = inner.map(lambda text: f"({text})") | inner.map(lambda text: f"(?:{text})")
    piece = st.tuples(group | st.sampled_from(["a", "b", ".", "[ab]", "[^a]", r"\w", r"\bc", "^", r"\.x"]), QUANTIFIER)
    joined = st.lists(piece.map("".join) | LITERAL, min_size=1, max_size=4).map("".join)
    return joined | st.lists(joined, min_size=2, max_size=3).map("|".join)


PATTERNS = st.recursive(LITERAL, grown, max_leaves=8)


@given(PATTERNS.filter(lambda pattern: not re.search(r"[\^b][*+?{]", pattern)), st.text("abcx. ", max_size=12))
@settings(max_examples=200)
def test_whatever_matches_holds_one_of_them(pattern, text):
    """The promise that an index is asked by: none of the literals, no match."""
    literals = required_literals(pattern)
    match = re.search(pattern, text)
    if match and literals is not None:
        assert any(literal in match[0] for literal in literals)


@pytest.mark.parametrize(
    ("pattern", "literals"),
    [
        ("foo.*barbaz", ["barbaz"]),
        (r"def\s+(\w+)\(", ["def"]),
        (r"\Qa.b\Ecd", ["a.bcd"]),
        ("(?i)Hello", ["Hello"]),
        ("(one|two)", ["one", "two"]),
        ("x{0}yy", ["yy"]),
        ("(abc)?", None),
        ("abc|", None),
        ("[abc]+", None),
        (r"\x41bc", ["bc"]),
        ("a|b|c|d|e|f|g|h|i", None),
        ("", None),
        ("(", None),
    ],
)
def test_the_best_are_taken(pattern, literals):
    """The longest that is certain, every branch of a choice."""
    assert required_literals(pattern) == literals


@given(st.text("ab()[]{}\\|*+?.^$:-,1Q", max_size=20))
def test_no_pattern_breaks_it(pattern):
    """Nonsense gives anything, and no error."""
    required_literals(pattern)
