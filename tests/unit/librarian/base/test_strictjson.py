import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from librarian.base.errors import InvalidInput
from librarian.base.strictjson import decode, elements
from librarian.search.contracts import SearchInput

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


def fault(body):
    with pytest.raises(InvalidInput) as caught:
        decode(body, SearchInput)
    return caught.value


@pytest.mark.parametrize(
    ("body", "field", "says"),
    [
        (b'{"queries": ["a"], "limit": 99}', "$.limit", "<= 50"),
        (b'{"queries": ["a"], "limt": 9}', "$.limt", "unknown field"),
        (b"{}", "$.queries", "missing"),
        (b'{"queries": ["a", 1]}', "$.queries[1]", "str"),
        (b'{"queries": ["a"], "queries": ["b"]}', "$", "duplicate key 'queries'"),
        (b'{"queries": ["a"], "filters": {"tags": ["x"], "tags": ["y"]}}', "$", "duplicate key 'tags'"),
        (b'{"queries": ["a"], "limit": NaN}', "$", "byte 28"),
        (b'{"queries": ["\xff"]}', "$", "byte 14"),
        (b'{"queries": ["\\ud800"]}', "$", "surrogate"),
        (b'{"queries": ["\\ud800 and \\n"]}', "$", "surrogate"),
        (b"", "$", "empty"),
        (b" \n", "$", "empty"),
        (b"[" * 100_000, "$", ""),
        (b'{"queries": ' + b"[" * 100_000, "$.queries[0]", ""),
        (b'{"queries": ["a"], "limit": ' + b"1" * 9999 + b"}", "$.limit", ""),
        (b'{"queries": ["a"], "limit": 1e999}', "$.limit", ""),
        (b'{"queries": ["a"]} x', "$", ""),
    ],
)
def test_what_two_readers_could_understand_differently_is_refused(body, field, says):
    error = fault(body)
    assert error.field == field
    assert says in str(error)


@given(VALUES)
def test_ordinary_json_passes_unchanged(value):
    for ascii_only in (True, False):
        assert decode(json.dumps(value, ensure_ascii=ascii_only).encode(), object) == value


@given(st.binary(max_size=200))
def test_no_bytes_are_a_defect(body):
    for type_ in (SearchInput, object):
        with contextlib.suppress(InvalidInput):
            decode(body, type_)


def test_an_array_gives_its_elements_and_an_object_itself():
    assert list(elements(b' [{"a":1}, 2 ,"x"]')) == [b'{"a":1}', b"2", b'"x"']
    assert list(elements(b'{"a":1}')) == [b'{"a":1}']
    assert list(elements(b"[]")) == []


@pytest.mark.parametrize("body", [b"[", b"", b"[1,]", b'["\xff"]', b"[" * 100_000])
def test_a_broken_array_is_invalid_input(body):
    with pytest.raises(InvalidInput):
        elements(body)
