import msgspec
import pytest

from librarian.http.api import DOCUMENTED
from librarian.http.examples import all_examples, examples_of

BODIES = list(dict.fromkeys(operation.body.schema for operation in DOCUMENTED if operation.body))
BODIES.remove(bytes)
ANSWERS = list(
    dict.fromkeys((type_, status) for operation in DOCUMENTED for status, type_ in operation.answers.items() if type_)
)
SHOWN = [
    pytest.param(type_, value, id=f"{type_} {status}: {title}")
    for type_, status in [*((body, None) for body in BODIES), *ANSWERS]
    for title, value in examples_of(type_, status).items()
]


@pytest.mark.parametrize(("type_", "value"), SHOWN)
def test_every_example_is_one(type_, value):
    """Each example of the documentation can be sent, or is answered: nothing unknown, nothing out of range."""
    read = msgspec.convert(value, type_)
    written = msgspec.to_builtins(read)
    assert _without_nothing(value) == _without_nothing(_as_sent(value, written))


def test_every_body_and_every_answer_has_an_example():
    """But for those that no JSON is made of."""
    assert [type_ for type_ in [*BODIES, *(type_ for type_, _ in ANSWERS)] if not examples_of(type_)] == []


def test_no_example_is_of_something_that_nobody_sends_or_gets():
    """An operation that goes takes its examples along."""
    shown = [examples_of(body) for body in BODIES] + [examples_of(*answer) for answer in ANSWERS]
    assert [name for name, examples in all_examples().items() if examples not in shown] == []


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
