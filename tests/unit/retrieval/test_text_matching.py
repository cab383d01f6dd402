"""Which lines match."""

import re
from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.text_matching import InvalidPattern, cut_around, glob_expression, line_matcher

TEXTS = st.text("abßİé \n_日", max_size=60)
NEEDLES = st.text("abßé _日", min_size=1, max_size=3)


def numbers(text, pattern, **options):
    return [number for number, _, _ in line_matcher(pattern, **options).lines(text)]


@given(TEXTS, NEEDLES)
def test_substrings(text, needle):
    """Each line that holds the text, once, in order."""
    assert numbers(text, needle) == [i for i, line in enumerate(text.split("\n")) if needle in line]


@given(TEXTS, NEEDLES)
def test_an_expression_of_plain_letters_is_a_substring(text, needle):
    """Both ways of matching agree."""
    assert numbers(text, re.escape(needle), regex=True) == numbers(text, needle)


@given(TEXTS, NEEDLES)
def test_words(text, needle):
    """No letter, digit or underscore beside it."""
    whole = re.compile(rf"(?<!\w){re.escape(needle)}(?!\w)")
    assert numbers(text, needle, word=True) == [i for i, line in enumerate(text.split("\n")) if whole.search(line)]


@given(TEXTS, NEEDLES, st.booleans())
def test_the_place_in_the_line(text, needle, regex):
    """Start and end cut the match out of the line."""
    lines = text.split("\n")
    for number, start, end in line_matcher(re.escape(needle) if regex else needle, regex=regex).lines(text):
        assert lines[number][start:end] == needle


@given(TEXTS, NEEDLES)
def test_the_index_misses_nothing(text, needle):
    """Whatever matches in any case holds a needle of the index."""
    matcher = line_matcher(needle, ignore_case=True)
    if list(matcher.lines(text)) and matcher.needles:
        assert any(one in text.casefold() for one in matcher.needles)


@pytest.mark.parametrize("pattern", ["", "a\nb", "x" * 1001])
def test_what_cannot_be_searched(pattern):
    """Nothing, more than a line, too much."""
    with pytest.raises(InvalidPattern):
        line_matcher(pattern)


def test_several_short_needles_are_of_no_use():
    """One may be as short as it likes; looking for several letters would read everything several times."""
    assert line_matcher("a").needles == ("a",)
    assert line_matcher(r"\d+A$", regex=True).needles == ("a",)
    assert line_matcher("abc|def", regex=True).needles == ("abc", "def")
    assert line_matcher("ab|abcdef", regex=True).needles == ()


@given(st.text("ab*?.", min_size=1, max_size=6).filter(lambda glob: "**" not in glob), st.text("ab.", max_size=6))
def test_globs_of_names(glob, name):
    """Without a slash as fnmatch has it, in every folder."""
    expression = re.compile(glob_expression(glob))
    assert bool(expression.fullmatch(name)) == fnmatchcase(name, glob)
    assert bool(expression.fullmatch(f"x/{name}")) == fnmatchcase(name, glob)


@pytest.mark.parametrize(
    ("glob", "path", "matches"),
    [
        ("src/**", "src/a/b.py", True),
        ("src/**", "srcs/a", False),
        ("**/test/*.py", "test/a.py", True),
        ("**/test/*.py", "x/y/test/a.py", True),
        ("src/*.py", "src/a/b.py", False),
        ("/src/*.py", "src/b.py", True),
        ("*.{py,ts}", "a.ts", True),
        ("*.{py,ts}", "a.tsx", False),
        ("[!a]x", "bx", True),
        ("[!a]x", "ax", False),
        ("a[b", "a[b", True),
        ("a,b", "a,b", True),
        ("*.py", "new\nline.py", True),
    ],
)
def test_globs_of_paths(glob, path, matches):
    """Stars stay in a folder, two of them cross folders."""
    assert bool(re.fullmatch(glob_expression(glob), path)) is matches


@given(st.text("ab…", max_size=40), st.integers(0, 40), st.integers(0, 5), st.integers(6, 20))
def test_a_long_line_is_cut_around_the_match(line, start, length, width):
    """The shown part holds the match, and is no longer than asked but for the marks."""
    start = min(start, len(line))
    end = min(start + length, len(line))
    shown = cut_around(line, start, end, width)
    assert line[start:end] in shown
    assert len(shown) <= width + 2
    assert (shown == line) == (len(line) <= width) or "…" in shown
