"""The contract of the Professor's answer: each violation is named by its place and rule."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from librarian.agent.professor import Numbering, listed, read_answer
from librarian_agents.search.types import Candidate

GOOD = {"temp_index": 0, "text": "決定係数", "source": "L3", "page": 5, "score": 1}
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


def answered(*candidates):
    return read_answer(json.dumps({"candidates": candidates}).encode())


def test_every_field_is_read():
    """A page may be a number; what the contract does not name is not read."""
    answer = answered({**GOOD, "colour": "blue"}, {"temp_index": 7, "text": "x"})
    assert answer.violations == []
    assert answer.candidates == [Candidate(0, "決定係数", "L3", "5", 1.0), Candidate(7, "x")]


@pytest.mark.parametrize(
    ("field", "value", "rule"),
    [
        ("temp_index", -1, "it must be a whole number from 0, not -1"),
        ("temp_index", "3", "it must be a whole number from 0, not a text"),
        ("temp_index", 1.5, "it must be a whole number from 0, not 1.5"),
        ("temp_index", True, "it must be a whole number from 0, not true or false"),
        ("temp_index", None, "it must be a whole number from 0, not null"),
        ("temp_index", 2**80, "it must be a whole number from 0, not such a large number"),
        ("text", " ", "it must be a text that is not blank, not blank"),
        ("text", ["x"], "it must be a text that is not blank, not a list"),
        ("source", 3, "it must be a text, not a number"),
        ("page", 3.5, "it must be a text or a whole number, not a number"),
        ("page", False, "it must be a text or a whole number, not true or false"),
        ("score", "high", "it must be a number, not a text"),
    ],
)
def test_a_wrong_field_is_named_with_its_place(field, value, rule):
    """And the other candidates are still read."""
    answer = answered(GOOD, {**GOOD, field: value})
    assert [str(entry) for entry in answer.violations] == [f"$.candidates[1].{field}: {rule}"]
    assert len(answer.candidates) == 1


def test_a_missing_field_is_named_as_missing():
    assert listed(answered({"text": "x"}).violations) == (
        "$.candidates[0].temp_index: it must be a whole number from 0, not missing"
    )


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        (b"", "$: it must be JSON"),
        (b"<html>", "$: it must be JSON"),
        (b'{"candidates": [', "$: it must be JSON"),
        (b"\xff", "$: it must be JSON"),
        (b"[" * 100_000, "$: it must be JSON"),
        (b"[]", "$: it must be an object, not a list"),
        (b"null", "$: it must be an object, not null"),
        (b"{}", "$.candidates: it must be a list, not missing"),
        (b'{"candidates": null}', "$.candidates: it must be a list, not null"),
        (b'{"candidates": ["x"]}', "$.candidates[0]: it must be an object, not a text"),
    ],
)
def test_what_is_no_answer_at_all_is_named(body, fault):
    assert listed(read_answer(body).violations) == fault


def test_many_violations_are_counted_after_the_first_five():
    """A message must end somewhere."""
    message = listed(answered(*[{"text": "x"}] * 12).violations)
    assert message.count("temp_index") == 5
    assert message.endswith("; and 7 more")


def test_an_index_stands_for_one_text_through_a_request():
    """The same again is fine; another text is a violation that names both searches."""
    numbering = Numbering()
    assert numbering.check(1, [Candidate(1, "a"), Candidate(2, "b")]) == []
    assert numbering.check(2, [Candidate(2, "b"), Candidate(3, "c")]) == []
    (violation,) = numbering.check(3, [Candidate(1, "c")])
    assert str(violation) == (
        "temp_index 1 of search 3: it stood for another text in search 1; numbering goes on through one request_id"
    )


def test_one_index_twice_in_one_answer_is_a_violation():
    assert len(Numbering().check(1, [Candidate(1, "a"), Candidate(1, "b")])) == 1


@given(anything)
def test_no_json_is_a_defect(value):
    """Whatever comes, it is candidates or violations, and no message quotes a text."""
    read_answer(msgspec.json.encode(value))
    answer = read_answer(msgspec.json.encode({"candidates": [value, {"temp_index": value, "text": value}]}))
    assert answer.violations or len(answer.candidates) == 2
    listed(answer.violations)
