"""The excerpt of a hit on a page, and the people whom a typed name means."""

import pytest

from librarian.http.web.excerpts import excerpt
from librarian.http.web.views.search import like

LONG = "Nothing here. " * 60 + "The deploy failed because the lock was held. " + "More of it. " * 60


def test_the_words_and_the_sentence_that_answers_are_marked():
    """By their stems; the rest of the text stays as it is."""
    shown = excerpt("It rained. The deploys were failing all day! Nobody slept.", "why did the deploy fail?")
    assert [piece.text for piece in shown if piece.word] == ["deploys", "failing"]
    assert "".join(piece.text for piece in shown if piece.answers) == "The deploys were failing all day!"
    assert "".join(piece.text for piece in shown).startswith("It rained. The deploys")


def test_a_long_text_is_shown_around_its_answer():
    """Cut on both sides, and said to be."""
    text = "".join(piece.text for piece in excerpt(LONG, "why did the deploy fail?"))
    assert "The deploy failed because the lock was held." in text
    assert len(text) < 430
    assert text.startswith("…")
    assert text.endswith("…")


@pytest.mark.parametrize("text", ["", "x", "ẞß İi", "請求書の消費税が一円ずれた。"])
def test_every_text_comes_back_whole(text):
    """Also where letters change their length with their case."""
    assert "".join(piece.text for piece in excerpt(text, "請求書 ss i x")) == text


def test_japanese_words_are_marked():
    assert "請求書" in [piece.text for piece in excerpt("昨日の請求書がずれた。", "請求書の不具合") if piece.word]


def test_a_typed_name_means_who_is_called_so_else_whose_name_holds_it():
    authors = ["Inês Duarte", "Ines", "Kenji Mori", "森 健司"]
    assert like("INES", authors) == ["Ines"]
    assert like("duarte", authors) == ["Inês Duarte"]
    assert like("森", authors) == ["森 健司"]
    assert like("nobody", authors) == ["nobody"]
