"""Where cited lines are after a file has changed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.citations import Citation, CitationState, cited_lines, settled
from graph.file_lines import Lines

LINES = st.lists(st.sampled_from(["a", "b", "", "cc"]), min_size=1, max_size=12)


def first_found(lines, start, end):
    return settled(Citation("u", "r", "p", start, end, None, None), lines)


@given(LINES, LINES, LINES, st.data())
def test_lines_that_only_move_stay_cited(before, cited, after, data):
    """Whatever is written around them, the place that is given holds them."""
    found = first_found([*before, *cited], len(before) + 1, len(before) + len(cited))
    moved = [*data.draw(LINES), *before, *after, *cited, *after]
    again = settled(found, moved)
    assert again.state is CitationState.CURRENT
    assert moved[again.start_line - 1 : again.end_line] == cited


@given(LINES, st.data())
def test_lines_that_are_nowhere_are_changed(lines, data):
    """A line that only they had is gone."""
    at = data.draw(st.integers(0, len(lines) - 1))
    found = first_found([*lines[:at], "unique", *lines[at:]], at + 1, at + 1)
    again = settled(found, lines)
    assert (again.state, again.sha256, again.text) == (CitationState.CHANGED, found.sha256, "unique")


def test_of_equal_lines_the_nearest_is_meant():
    """A brace stays the brace that it was."""
    found = first_found(["x", "}", "y", "}"], 4, 4)
    assert settled(found, ["}", "x", "}", "y", "z", "}"]).start_line == 3
    assert settled(found, ["}", "x", "y", "z", "}"]).start_line == 5


def test_long_lines_are_told_apart_behind_what_is_kept_of_them():
    """Only the beginning is kept as text; the digest is that of all."""
    found = first_found(["a" * 5_000 + "1"], 1, 1)
    assert settled(found, ["a" * 5_000 + "2"]).state is CitationState.CHANGED
    assert settled(found, ["", "a" * 5_000 + "1"]).start_line == 2


def test_lines_beyond_the_end_are_not_found():
    """Nothing is remembered of them."""
    assert first_found(["a"], 2, 2) == Citation("u", "r", "p", 2, 2, None, None)


@pytest.mark.parametrize(
    ("ref", "lines"),
    [
        ("file:a.py#L3", Lines("a.py", 3, 3)),
        ("file:a b/c#d.py#L3-L9", Lines("a b/c#d.py", 3, 9)),
        ("file:a.py:3-9", Lines("a.py", 3, 9)),
        ("file:a.py#L3-9", Lines("a.py", 3, 9)),
        ("D1:3", None),
        ("a.py:3", None),
    ],
)
def test_references(ref, lines):
    """Only what begins with `file:` is one to a file."""
    assert cited_lines(ref) == lines
