"""Strict JSON: anything that two parsers could read differently is refused.

On top of msgspec's own rules (no NaN, no unknown field, no wrong type): duplicate keys, invalid UTF-8, lone surrogates,
numbers out of range and excessive nesting raise InvalidInput naming the path.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any, TypeVar

import msgspec

from librarian.base.errors import InvalidInput, PayloadTooLarge
from librarian.base.remedies import remedy_for

T = TypeVar("T")

_EMPTY = "the body is empty; JSON is expected"
_TOO_DEEP = "the JSON is nested too deeply"
_SHOWN_CHARS = 60
MAX_DEPTH = 100
"""Maximum nesting of arrays and objects."""
# Strings match whole, so that brackets in texts are not counted.
_BRACKETS = re.compile(rb'"(?:[^"\\]|\\.)*+"|[][{}]', re.DOTALL)
_PATH_IN_MESSAGE = re.compile(r"^(?P<message>.*?)(?: - at `(?:key in )?(?P<path>\$[^`]*)`)?$", re.DOTALL)
_UNKNOWN_FIELD = re.compile(r"unknown field `(?P<name>[^`]*)`")
_MISSING_FIELD = re.compile(r"missing required field `(?P<name>[^`]*)`")


def decode(body: bytes, type_: type[T], *, most_chars: int | None = None) -> T:
    """Return the value of `body`. Raises InvalidInput, whose `field` is a path such as `$.filters.kinds[0]`, and
    PayloadTooLarge for a text of more than `most_chars` characters, if given.
    """
    check_text(body)
    limit = most_chars if most_chars is not None and len(body) > most_chars else None  # no character is below one byte
    try:
        value: T = _decoder(type_).decode(body)  # type: ignore[arg-type]  # classes are hashable
    except msgspec.ValidationError as error:
        if limit is not None:  # a better message than that of the type's own limit
            refuse_long_texts(msgspec.json.decode(body), limit)
        raise _invalid(str(error), type_) from None
    except (msgspec.DecodeError, RecursionError) as error:
        raise _malformed(body, error) from None
    refuse_deep_nesting(body)
    plain = refuse_duplicate_keys(body)
    if limit is not None:
        refuse_long_texts(plain, limit)
    return value


def convert(value: object, type_: type[T], *, strict: bool = True) -> T:
    """Return decoded JSON as a value of `type_`. Raises InvalidInput as `decode` does.

    Without `strict`, texts are read as numbers, booleans and null where the type wants those: for query strings.
    """
    try:
        return msgspec.convert(value, type_, strict=strict)
    except msgspec.ValidationError as error:
        raise _invalid(str(error), type_) from None


@cache
def _decoder(type_: type[T]) -> msgspec.json.Decoder[T]:
    return msgspec.json.Decoder(type_)


def refuse_long_texts(value: object, most_chars: int) -> None:
    """Raise PayloadTooLarge naming the first text of decoded JSON that is longer than `most_chars` characters."""
    path = next(_longer(value, "$", most_chars), None)
    if path is not None:
        raise PayloadTooLarge(
            f"a text is longer than {most_chars} characters",
            field=path,
            remedy="Split it; the operator can set LIBRARIAN_MAX_TEXT_CHARS up to 1000000.",
        )


def _longer(value: object, path: str, most_chars: int) -> Iterator[str]:
    """Yield the paths of texts that are too long."""
    match value:
        case str() if len(value) > most_chars:
            yield path
        case list():
            for number, element in enumerate(value):
                yield from _longer(element, f"{path}[{number}]", most_chars)
        case dict():
            for name, element in value.items():
                yield from _longer(element, f"{path}.{name}", most_chars)


def elements(body: bytes) -> Iterator[bytes]:
    """Return the elements of a JSON array, or the single value of `body`, each still as JSON. Raises InvalidInput."""
    check_text(body)
    if not body.strip():
        raise InvalidInput(_EMPTY, field="$")
    try:
        if body.lstrip(b" \t\r\n")[:1] == b"[":
            found = msgspec.json.decode(body, type=list[msgspec.Raw])
        else:
            found = [msgspec.json.decode(body, type=msgspec.Raw)]
    except (msgspec.DecodeError, RecursionError) as error:
        raise _malformed(body, error) from None
    return (bytes(element) for element in found)


def refuse_deep_nesting(body: bytes) -> None:
    """Refuse otherwise valid JSON nested deeper than MAX_DEPTH: later readers, deeper in the stack, would hit Python's
    recursion limit.
    """
    if body.count(b"[") + body.count(b"{") <= MAX_DEPTH:
        return
    depth = 0
    for bracket in _BRACKETS.findall(body):
        if bracket in b"[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise InvalidInput(_TOO_DEEP, field="$", remedy=f"{MAX_DEPTH} levels are the most.")
        elif bracket in b"]}":
            depth -= 1


def check_text(body: bytes) -> None:
    """Refuse bytes that are not UTF-8, naming the first bad one."""
    try:
        body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"the text is not valid UTF-8 at byte {error.start}", field="$", remedy="Send the body as UTF-8."
        ) from None


def refuse_duplicate_keys(body: bytes) -> object:
    """Return the value of an otherwise valid `body`, numbers as text; refuse duplicate keys at any depth."""
    # Numbers stay text: they do not matter here, and Python refuses to parse very long ones.
    return json.loads(body, object_pairs_hook=_unique, parse_int=str, parse_float=str)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = dict(pairs)
    if len(names) != len(pairs):
        twice = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
        shown = twice if len(twice) <= _SHOWN_CHARS else twice[:_SHOWN_CHARS] + "…"
        raise InvalidInput(f"duplicate key {shown!r}", field="$", remedy="Keep one of the two.")
    return names


def _invalid(message: str, type_: Any) -> InvalidInput:
    found = _PATH_IN_MESSAGE.match(message)
    path = (found and found["path"]) or "$"
    text = found["message"] if found else message
    named = _UNKNOWN_FIELD.search(text) or _MISSING_FIELD.search(text)
    field = f"{path}.{named['name']}" if named else path
    return InvalidInput(text, field=field, remedy=remedy_for(type_, path, text))


def _malformed(body: bytes, error: Exception) -> InvalidInput:
    if isinstance(error, RecursionError):
        return InvalidInput(_TOO_DEEP, field="$", remedy=f"{MAX_DEPTH} levels are the most.")
    if not body.strip():
        return InvalidInput(_EMPTY, field="$")
    if _has_lone_surrogate(body):
        return InvalidInput("a text holds half of a surrogate pair (\\ud800 to \\udfff)", field="$")
    return InvalidInput(str(error), field="$")


def _has_lone_surrogate(body: bytes) -> bool:
    try:
        json.dumps(json.loads(body), ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return True
    except (ValueError, RecursionError):
        return False
    return False
