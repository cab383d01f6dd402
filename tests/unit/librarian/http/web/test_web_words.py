"""Words and languages of the web page."""

import re
import string
from collections.abc import Iterator
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from librarian.base.fields import Kind
from librarian.base.problems import RULES, title_of
from librarian.http.web.languages import LANGUAGES, preferred
from librarian.http.web.strings import catalogue, translator
from librarian.items.contracts import EdgeMethod, EdgeState
from librarian.runtime.contracts import Phase
from librarian.sweep.contracts import Action, ChangeState, ReviewSort, ReviewState, SweepStatus

WORDS = re.compile(r"_\(\"([^\"]+)\"")
SHOWN = (EdgeMethod, EdgeState, Kind, ReviewSort, ReviewState, Phase, Action, ChangeState, SweepStatus)


def said_by_pages() -> set[str]:
    """Every text of a template that is to be translated."""
    folder = files("librarian.http.web") / "templates"
    texts = [page.read_text(encoding="utf-8") for page in folder.iterdir() if page.name.endswith(".html")]
    return {word for text in texts for word in WORDS.findall(text)}


def braces(text: str) -> set[str | None]:
    return {name for _, name, _, _ in string.Formatter().parse(text)} - {None}


def values() -> Iterator[str]:
    for literal in SHOWN:
        yield from literal.__args__
    yield from (title_of(rule.status) for rule in RULES.values())


def test_japanese_has_a_word_for_everything_pages_say():
    """Texts of templates, values of contracts, titles of problems."""
    words = catalogue("ja")
    assert sorted(said_by_pages() - set(words)) == []
    assert sorted(set(values()) - set(words)) == []


def test_japanese_has_no_word_that_no_page_says():
    """A text that no template holds any more goes."""
    file = files("librarian.http.web") / "catalogues" / "ja.json"
    reported = re.search(r'"pages": \{(.*?)\n  \}', file.read_text(encoding="utf-8"), re.DOTALL)
    assert reported is not None
    assert set(re.findall(r'^    "([^"]+)":', reported[1], re.MULTILINE)) <= said_by_pages()


def test_translations_keep_the_values():
    """Names in braces stand in both languages."""
    assert [english for english, word in catalogue("ja").items() if braces(english) != braces(word)] == []


def test_values_are_put_in_as_they_are():
    """Braces of a value mean nothing; an unknown word stays as it is."""
    assert translator("en")("{n} hits", n="{x}") == "{x} hits"
    assert translator("ja")("{n} hits", n=3) == "3件"
    assert translator("ja")("{odd}") == "{odd}"


@pytest.mark.parametrize(
    ("accepted", "language"),
    [
        ("", "en"),
        ("ja", "ja"),
        ("ja-JP,ja;q=0.9,en;q=0.8", "ja"),
        ("en-GB,ja;q=0.9", "en"),
        ("de, ja;q=0.5", "ja"),
        ("de", "en"),
        ("ja;q=0", "en"),
        ("*;q=1, ja;q=0.1", "ja"),
    ],
)
def test_the_browser_says_which_language(accepted, language):
    """The one that it likes most of those that we have."""
    assert preferred(accepted) == language


@given(st.text(max_size=200))
def test_any_header_gives_a_language(accepted):
    """However broken it is."""
    assert preferred(accepted) in LANGUAGES
