from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.text import (
    caption_of,
    clean,
    has_cjk,
    identifier_parts,
    keyword_text,
    language,
    normalise,
    split_identifier,
)


@given(st.text(st.characters()))
def test_clean_text_can_be_stored(text: str):
    cleaned = clean(text)
    cleaned.encode("utf-8")
    assert "\0" not in cleaned
    assert clean(cleaned) == cleaned
    assert len(cleaned) == len(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Why did it fail?", "en"),
        ("なぜ失敗した?", "ja"),
        ("原因はHRB-412", "ja"),
        ("数据库连接失败", "zh"),
        ("왜 실패했나요", "ko"),
        ("", "en"),
        ("ﾃﾞﾌﾟﾛｲ", "ja"),
    ],
)
def test_language_by_script(text: str, expected: str):
    assert language(text) == expected
    assert has_cjk(text) == (expected != "en")


@pytest.mark.parametrize(
    ("identifier", "parts"),
    [
        ("getUserById", ["get", "user", "by", "id"]),
        ("HTTPServerError", ["http", "server", "error"]),
        ("pool_size_max", ["pool", "size", "max"]),
        ("graph/local/keeper.py", ["graph", "local", "keeper", "py"]),
        ("utf8Decoder", ["utf", "8", "decoder"]),
    ],
)
def test_identifiers_fall_into_words(identifier: str, parts: list[str]):
    assert split_identifier(identifier) == parts


def test_plain_words_are_no_identifiers():
    assert identifier_parts("The quick brown fox, isn't it") == []
    assert identifier_parts("call getUserById in src/api/users.ts") == [
        "get",
        "user",
        "by",
        "id",
        "src",
        "api",
        "users",
        "ts",
    ]


def test_keyword_text_names_date_author_and_caption():
    text = keyword_text("look!", author="Mia", caption="a red boat", when=datetime(2023, 5, 8, tzinfo=UTC))
    assert text == "[8 May 2023 2023-05-08] Mia: look! [a red boat]"


def test_queries_are_folded():
    assert normalise(" ＨＲＢ－４１２\u0000\n is　late ") == "HRB-412 is late"


@given(st.text(min_size=1), st.integers(min_value=2, max_value=80))
def test_captions_are_one_short_line(text: str, limit: int):
    caption = caption_of(text, limit)
    assert len(caption) <= limit
    assert "\n" not in caption


@pytest.mark.parametrize("piece", ["x", "x9", "_", "a/", "A", "aA", "Aa", "9", "x-", "x_", "aB ", "\\"])
def test_a_long_text_of_any_shape_is_read_in_no_time(piece):
    """A megabyte without a blank must not hold the service up: this ends at once, or not within the run."""
    assert isinstance(identifier_parts(piece * (1_000_000 // len(piece))), list)
