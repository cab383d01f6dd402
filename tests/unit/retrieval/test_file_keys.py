"""Keys of paths and of queries for files."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from retrieval.files import Candidate, file_query, lucene_words, path_keys, ranked, within_one_edit

PATHS = st.lists(st.text("abAB1._-é ", min_size=1, max_size=8), min_size=1, max_size=4).map("/".join)


@given(st.text("abc", max_size=6), st.text("abc", max_size=6))
def test_one_edit(left, right):
    """Equal to trying every edit."""
    assert within_one_edit(left, right) == (right in edits(left))


@given(PATHS)
def test_a_path_is_the_first_of_its_own_query(path):
    """Whatever else is there, the very path comes first."""
    others = [f"x/{path}", f"{path}.bak", path.upper() + "x"]
    assume(path == path.strip() and not path.startswith("./") and "/ " not in path and " /" not in path)
    assert ranked(file_query(path), [Candidate(one) for one in (*others, path)])[0].path == path


@given(st.text(max_size=40))
def test_no_query_breaks_the_index(text):
    """Only letters and digits reach it, whatever is asked."""
    words = lucene_words(file_query(text), "n")
    if words is not None:
        inside = words.replace("search_text:", "").replace("tokens:", "").replace("^0", "").replace("^4", "")
        assert set(inside) - set("+()*~ ") <= {char for char in inside if char.isalnum()}


@pytest.mark.parametrize(
    ("path", "stem"),
    [
        ("a/AgentPanel.tsx", "agentpanel"),
        ("a/.env", "env"),
        ("Makefile", "makefile"),
        ("x.test.ts", "xtest"),
        ("ﬁ.c", "fi"),
    ],
)
def test_stems(path, stem):
    """Letters and digits of the name without its last ending."""
    assert path_keys(path).stem_key == stem


def edits(word):
    letters = "abc"
    splits = [(word[:i], word[i:]) for i in range(len(word) + 1)]
    return {
        word,
        *(a + b[1:] for a, b in splits if b),
        *(a + b[1] + b[0] + b[2:] for a, b in splits if len(b) > 1),
        *(a + c + b[1:] for a, b in splits if b for c in letters),
        *(a + c + b for a, b in splits for c in letters),
    }
