"""Long texts in passages."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.passages import MAX_CHARS, MAX_PASSAGES, OVERLAP, clean, embedding_text, passages, readable

ALPHABET = "ab éあ漢글.!?。」\n \t'😀"
WIDTHS = st.integers(8, 60).flatmap(lambda width: st.tuples(st.just(width), st.integers(0, width // 8)))


def width(text: str) -> int:
    return sum(1 if re.match(r"[a-zé\s]", character) else 3 for character in text)


def is_cover(text: str, slices: list[str], overlap: int) -> bool:
    """Whether the slices follow one another in the text, each overlapping the last by `overlap` at most."""
    reached = {0}
    for piece in slices:
        starts = {
            start for end in reached for start in range(max(0, end - overlap), end + 1) if text.startswith(piece, start)
        }
        reached = {start + len(piece) for start in starts}
    return len(text) in reached or (len(slices) == MAX_PASSAGES and bool(reached))


@given(st.text(ALPHABET, max_size=400), WIDTHS)
def test_every_character_is_covered_up_to_the_cap(text, sizes):
    max_chars, overlap = sizes
    slices = passages(text, max_chars=max_chars, overlap=overlap)
    assert is_cover(text, slices, overlap) if text.strip() else slices == []


@given(st.text(ALPHABET, max_size=400), WIDTHS)
def test_no_passage_is_wider_than_allowed(text, sizes):
    max_chars, overlap = sizes
    assert all(width(piece) <= max_chars for piece in passages(text, max_chars=max_chars, overlap=overlap))


@given(st.text(min_size=1, max_size=MAX_CHARS // 3).filter(str.strip))
def test_a_short_text_is_its_own_only_passage(text):
    assert passages(text) == [text]


@given(st.text(ALPHABET, max_size=300), WIDTHS)
def test_a_passage_is_not_split_again(text, sizes):
    max_chars, overlap = sizes
    for piece in passages(text, max_chars=max_chars, overlap=overlap):
        assert passages(piece, max_chars=max_chars, overlap=overlap) == ([piece] if piece.strip() else [])


@pytest.mark.parametrize(
    ("text", "slices"),
    [
        ("One two three. Four six. Seven more words.", ["One two three. Four six. ", "Seven more words."]),
        ("One two three four.\n\nFive. Six seven eight.", ["One two three four.\n\n", "Five. Six seven eight."]),
        ("今日は雨だ。明日は晴れ。", ["今日は雨だ。", "明日は晴れ。"]),
        ("alpha beta gamma delta epsilon zeta", ["alpha beta gamma delta ", "epsilon zeta"]),
        ("x" * 40, ["x" * 30, "x" * 10]),
    ],
)
def test_cuts_fall_on_paragraphs_then_sentences_then_words(text, slices):
    assert passages(text, max_chars=30, overlap=0) == slices


def test_a_passage_begins_with_the_last_sentence_of_the_one_before():
    sentences = "".join(f"This is sentence number {number:03}. " for number in range(100))
    first, second, *_ = passages(sentences)
    repeated = next(second[:length] for length in range(OVERLAP, 0, -1) if first.endswith(second[:length]))
    assert repeated.startswith("This is sentence")
    assert repeated.endswith(". ")


def test_a_text_of_ten_megabytes_is_capped():
    text = "All work and no play makes Jack a dull boy. " * 240_000
    slices = passages(text)
    assert len(slices) == MAX_PASSAGES
    assert text.startswith(slices[0])
    assert all(len(piece) > MAX_CHARS // 2 for piece in slices)


@pytest.mark.parametrize("overlap", [-1, 101])
def test_an_overlap_that_could_stop_progress_is_refused(overlap):
    with pytest.raises(ValueError, match=f"overlap {overlap}"):
        passages("text", max_chars=800, overlap=overlap)


@pytest.mark.parametrize(
    ("author", "caption", "written"),
    [
        ("Ana", "a red bike", "Ana: look [a red bike]"),
        ("Ana", None, "Ana: look"),
        (None, "a red bike", "look [a red bike]"),
        ("", "", "look"),
    ],
)
def test_the_text_form_leaves_out_what_is_missing(author, caption, written):
    assert embedding_text(author, "look", caption) == written


@given(st.text(st.characters()))
def test_cleaned_text_can_be_written_as_utf8_and_keeps_its_length(text):
    cleaned = clean(text + "\ud83d\x00")
    assert "\x00" not in cleaned
    assert len(cleaned.encode().decode()) == len(text) + 2


def test_what_is_read_of_a_text_goes_passage_by_passage():
    english, japanese = "The pool was exhausted.", "会議は水曜日に移りました。"
    assert readable(english, {"en"}) == ([english], None)
    assert readable(japanese, {"en"}) == ([], "ja")
    assert readable(japanese, None) == ([japanese], None)
    assert readable(" ", {"en"}) == ([], None)
    assert readable(f"{english} {japanese}", {"en"}) == ([], "ja")
    assert readable("We clean up old logs nightly. 毎晩ログを消す。", {"en"})[1] is None
    assert readable("DBのロックが原因でharborのデプロイが失敗した。", {"en"}) == ([], "ja")
    long = f"{english * 55}\n\n{japanese * 40}"
    read, unread = readable(long, {"en"})
    assert (read, unread) == ([passages(long)[0]], "ja")
    assert readable(long, {"en", "ja"}) == (passages(long), None)
