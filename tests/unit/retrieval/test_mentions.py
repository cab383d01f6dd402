"""Which files and definitions a text names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.mentions import MAX_MENTIONS, mentions


def named(text):
    return [one.symbol or (one.suffix or one.name) for one in mentions(text)]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("see src/app.py for it", ["/src/app.py"]),
        ("see src/app.py:12, and app.py.", ["/src/app.py", "app.py"]),
        ("the class LockTimeout is raised", ["LockTimeout"]),
        ("call acquire_lock() or `run`", ["acquire_lock", "run"]),
        ("`deploy.run()` fails", ["run"]),
        ("getUserName", ["getUserName"]),
        ("Nothing here names code. Not even Postgres, or v1.2.", []),
        ("https://example.org/src/app.py", []),
        ("app.py and app.py", ["app.py"]),
    ],
)
def test_names(text, names):
    """Paths, and words that only code is written with; no addresses, and nothing twice."""
    assert named(text) == names


def test_a_mention_is_quoted_with_its_sentence_and_line():
    """The sentence is a literal part of the text."""
    (one,) = mentions("It was slow. The lock in api/run.py:40 waits too long! So we changed it.")
    assert (one.line, one.quote) == (40, "The lock in api/run.py:40 waits too long!")


@given(st.text(st.sampled_from("aB_./:`( )\n9"), max_size=200))
def test_any_text_can_be_read(text):
    """Quotes are parts of it, and there are not too many."""
    found = mentions(text)
    assert len(found) <= MAX_MENTIONS
    assert all(one.quote in text and (one.name or one.symbol) for one in found)
