"""Lenient JSON for other programs' output: lone surrogates, NaN and very long numbers are accepted.

`librarian.base.strictjson` is for requests. An export cannot be corrected: half an emoji in one title must not cost
the whole file. Raises InvalidInput for anything that is not JSON.
"""

import json
from collections.abc import Iterator
from typing import Any

from librarian.base.errors import InvalidInput

_BLANKS = " \t\r\n"
_MAX_INT_DIGITS = 18


def value(text: str) -> Any:
    """Return the value of a JSON text; NaN and infinities are None."""
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError) as error:
        raise _not_json(error) from None


def records(text: str) -> list[Any]:
    """Return the elements of a JSON array, a single other JSON value, or the values of JSON Lines."""
    try:
        whole = value(text)
    except InvalidInput:
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) < 2:
            raise
        return [value(line) for line in lines]
    return whole if isinstance(whole, list) else [whole]


def elements(text: str) -> Iterator[Any]:
    """Yield the elements of a JSON array, decoded one by one; any other value counts as an array of one.

    Elements before a fault are yielded before it is raised.
    """
    index = _after_blanks(text, 0)
    if text[index : index + 1] != "[":
        yield value(text)
        return
    index = _after_blanks(text, index + 1)
    while text[index : index + 1] != "]":
        try:
            element, index = _DECODER.raw_decode(text, index)
        except (ValueError, RecursionError) as error:
            raise _not_json(error) from None
        yield element
        index = _after_comma(text, _after_blanks(text, index))


def _after_comma(text: str, index: int) -> int:
    """Return the index of the next element or the closing bracket."""
    if text[index : index + 1] == ",":
        return _after_blanks(text, index + 1)
    if text[index : index + 1] == "]":
        return index
    raise InvalidInput(f"not valid JSON: a comma or ] is missing at character {index}")


def _after_blanks(text: str, index: int) -> int:
    while index < len(text) and text[index] in _BLANKS:
        index += 1
    return index


def _int(digits: str) -> int | float:
    return int(digits) if len(digits) <= _MAX_INT_DIGITS else float(digits)


def _not_json(error: Exception) -> InvalidInput:
    if isinstance(error, json.JSONDecodeError):
        return InvalidInput(f"not valid JSON: {error.msg} at character {error.pos}")
    return InvalidInput("the JSON is nested too deeply" if isinstance(error, RecursionError) else "not valid JSON")


_DECODER = json.JSONDecoder(parse_int=_int, parse_constant=lambda _: None)
