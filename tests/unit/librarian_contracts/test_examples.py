import msgspec
import pytest

from librarian.contracts.examples import EXAMPLES, examples_of
from librarian.http.api import OPERATIONS

SHOWN = [
    pytest.param(key[0] if isinstance(key, tuple) else key, value, id=f"{key}: {title}")
    for key, examples in EXAMPLES.items()
    for title, value in examples.items()
]


@pytest.mark.parametrize(("type_", "value"), SHOWN)
def test_every_example_is_one(type_, value):
    """What the documentation shows can be sent, and is what is answered: nothing unknown, nothing out of range."""
    read = msgspec.convert(value, type_)
    written = msgspec.to_builtins(read)
    assert _without_nothing(value) == _without_nothing(_as_sent(value, written))


def test_every_body_and_every_answer_has_an_example():
    """But for those that no JSON is made of."""
    bodies = {operation.body.schema for operation in OPERATIONS if operation.body} - {bytes}
    answers = {type_ for operation in OPERATIONS for type_ in operation.answers.values() if type_}
    assert [type_ for type_ in bodies | answers if not examples_of(type_)] == []


def test_no_example_is_of_something_that_nobody_sends_or_gets():
    """An operation that goes takes its examples along."""
    bodies = {operation.body.schema for operation in OPERATIONS if operation.body}
    answers = {type_ for operation in OPERATIONS for type_ in operation.answers.values()}
    pairs = {(type_, status) for operation in OPERATIONS for status, type_ in operation.answers.items()}
    assert set(EXAMPLES) - bodies - answers - pairs == set()


def test_one_example_is_japanese():
    """So that readers see that the service takes it, in texts, tags and queries."""
    assert any(any("\u3040" <= char <= "\u309f" for char in str(value)) for *_, value in (p.values for p in SHOWN))


def _as_sent(value, written):
    """`written` without the fields that `value` leaves to their defaults."""
    if isinstance(value, dict):
        return {name: _as_sent(inner, written[name]) for name, inner in value.items() if name in written}
    if isinstance(value, list):
        return [_as_sent(*pair) for pair in zip(value, written, strict=True)]
    return value if isinstance(value, str) else written


def _without_nothing(value):
    if isinstance(value, dict):
        return {name: _without_nothing(inner) for name, inner in value.items() if inner is not None}
    return [_without_nothing(inner) for inner in value] if isinstance(value, list) else value
