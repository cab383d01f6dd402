import io
import json
import sys
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from librarian.base.errors import InvalidInput
from librarian.base.schemas import inlined_schema
from librarian.cli.items import READERS, merge_patch
from librarian.cli.values import end_of, json_value, last_moment, moment, pairs, span, text_or_stdin, texts
from librarian.items.contracts import FactIn, MemoryIn, MessageIn

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def test_a_date_is_its_first_moment_or_its_last():
    assert moment("2026-03-01", "--from") == datetime(2026, 3, 1, tzinfo=UTC)
    assert last_moment("2026-03-01", "--to") == datetime(2026, 3, 2, tzinfo=UTC) - timedelta(microseconds=1)
    assert last_moment("9999-12-31", "--to").year == 9999


@given(st.datetimes(timezones=st.timezones() | st.none()))
def test_a_full_time_is_taken_as_it_is_and_means_utc_without_an_offset(when):
    expected = when if when.tzinfo else when.replace(tzinfo=UTC)
    assert moment(when.isoformat(), "--from").isoformat() == expected.isoformat()
    assert last_moment(when.isoformat(), "--to").isoformat() == expected.isoformat()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("90", NOW + timedelta(days=90)),
        ("90d", NOW + timedelta(days=90)),
        ("12h", NOW + timedelta(hours=12)),
        ("30m", NOW + timedelta(minutes=30)),
        ("2026-03-05", datetime(2026, 3, 5, 23, 59, 59, 999999, tzinfo=UTC)),
        ("2026-03-05T09:30+02:00", datetime(2026, 3, 5, 7, 30, tzinfo=UTC)),
    ],
)
def test_an_end_is_a_span_from_now_or_a_time(text, expected):
    assert end_of(text, "--expires", NOW) == expected


@pytest.mark.parametrize("text", ["", "soon", "1y", "-1d", "1.5h", "2026-13-01", "٣d", "999999999"])
def test_what_is_no_time_is_said_with_the_option_and_the_forms(text):
    for read in (lambda: end_of(text, "--expires", NOW), lambda: span(text, "--expires")):
        with pytest.raises(InvalidInput) as caught:
            read()
        assert caught.value.field == "--expires"
        assert "90d" in caught.value.remedy


def test_a_dash_is_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO("ログ\n\n".encode())))
    assert text_or_stdin("-", "TEXT") == "ログ\n"
    assert text_or_stdin("- a", "TEXT") == "- a"
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"\xff")))
    with pytest.raises(InvalidInput, match="UTF-8"):
        text_or_stdin("-", "TEXT")


def test_pairs_become_an_object_with_plain_json_values():
    given_texts = ["colour=blue", "size=7", "big=true", "gone=null", "list=[1]", "sum=1=1", "empty="]
    expected = {"colour": "blue", "size": 7, "big": True, "gone": None, "list": "[1]", "sum": "1=1", "empty": ""}
    assert pairs(given_texts, "--attribute") == expected
    for bad in ("colour", "=blue"):
        with pytest.raises(InvalidInput) as caught:
            pairs([bad], "--attribute")
        assert caught.value.field == "--attribute"


def test_a_list_is_written_with_commas_or_as_json():
    assert texts("a, b,", "--set") == texts('["a","b"]', "--set") == ["a", "b"]
    assert texts("", "--set") == []
    for bad in ("[1]", "[a"):
        with pytest.raises(InvalidInput):
            texts(bad, "--set")


@given(st.recursive(st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(), st.lists, max_leaves=5))
def test_any_json_is_its_value(value):
    assert json_value(json.dumps(value), "--set") == value


def test_a_patch_has_each_field_in_its_type():
    patch = merge_patch(
        ["text=7", "importance=7", "tags=a,b", "valid_from=2026-03-01", "attributes.colour=blue", "attributes.size=7"],
        ["domain", "attributes.old"],
    )
    assert patch == {
        "text": "7",
        "importance": 7,
        "tags": ["a", "b"],
        "valid_from": "2026-03-01T00:00:00+00:00",
        "attributes": {"colour": "blue", "size": 7, "old": None},
        "domain": None,
    }


@pytest.mark.parametrize(
    ("set_", "unset"),
    [
        ([], []),
        (["text"], []),
        (["=x"], []),
        (["importance=high"], []),
        (["valid_from=soon"], []),
        (["attributes=7", "attributes.a=1"], []),
        (["attributes.a=1"], ["attributes.a"]),
        (["text=a", "text=b"], []),
        (["text=\udcff"], []),
    ],
)
def test_a_patch_that_says_nothing_clear_is_refused(set_, unset):
    with pytest.raises(InvalidInput) as caught:
        merge_patch(set_, unset)
    assert caught.value.field == "--set"


def test_every_field_of_a_row_that_is_no_text_has_a_reader():
    fields = {
        name: schema
        for row in (MessageIn, FactIn, MemoryIn)
        for name, schema in inlined_schema(row)["properties"].items()
    }
    assert {name for name, schema in fields.items() if not is_text(schema)} == set(READERS)


def is_text(schema):
    """Whether a field takes texts and no times."""
    types = schema.get("anyOf", [schema])
    return schema.get("format") != "date-time" and all(
        "enum" in entry or (entry["type"] in ("string", "null") and entry.get("format") != "date-time")
        for entry in types
    )
