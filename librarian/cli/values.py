"""Readers of command-line texts; each raises InvalidInput naming the option."""

import re
import sys
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any

import msgspec

from librarian.base.errors import InvalidInput
from librarian.cli.lazy import deferred

if TYPE_CHECKING:
    from librarian.base.settings import values
else:
    values = deferred("librarian.base.settings.values")

STDIN = "-"

_SPAN = re.compile(r"(?P<count>[0-9]{1,5})(?P<unit>[dhm]?)")
_UNITS = {"": timedelta(days=1), "d": timedelta(days=1), "h": timedelta(hours=1), "m": timedelta(minutes=1)}
_MOMENTS = "Write 2026-03-01 or 2026-03-01T09:30Z."
_SPANS = "Write 90d, 12h or 30m; a number alone means days."


def moment(text: str, option: str) -> datetime:
    """Return a time, UTC without an offset; a date is its first moment."""
    return _moment(text, option, time.min)


def last_moment(text: str, option: str) -> datetime:
    """Return a time like `moment`, but for a date its last moment."""
    return _moment(text, option, time.max)


def span(text: str, option: str) -> timedelta:
    """Return a span of days, hours or minutes; a number alone counts days."""
    found = _SPAN.fullmatch(text.strip())
    if found is None:
        raise InvalidInput(f"{text!r} is not a span of time", field=option, remedy=_SPANS)
    return int(found["count"]) * _UNITS[found["unit"]]


def end_of(text: str, option: str, now: datetime) -> datetime:
    """Return when something ends: after a span from `now`, or at a time; a date ends at its end."""
    if _SPAN.fullmatch(text.strip()):
        return now + span(text, option)
    try:
        return last_moment(text, option)
    except InvalidInput as error:
        raise InvalidInput(str(error), field=option, remedy=f"{_MOMENTS} {_SPANS}") from None


def utf8(text: str, option: str) -> str:
    """Return the text. Raises InvalidInput if it was not UTF-8."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise InvalidInput("the text is not valid UTF-8", field=option) from None
    return text


def text_or_stdin(text: str, option: str) -> str:
    """Return the text, or all of standard input for "-", without its final newline."""
    if text != STDIN:
        return text
    try:
        return sys.stdin.buffer.read().decode("utf-8").removesuffix("\n")
    except UnicodeDecodeError:
        raise InvalidInput("standard input is not valid UTF-8", field=option) from None


def yes_no(text: str, option: str) -> bool:
    """Return the truth value of yes or no, or the synonyms that settings accept."""
    try:
        return values.flag(text)
    except ValueError:
        raise InvalidInput(f"{text!r} is neither yes nor no", field=option) from None


def at_most(most: int, remedy: str) -> Callable[[int, str], int]:
    """Return a reader of the number of hits, whose error for more than `most` gives the remedy."""

    def read(wanted: int, option: str) -> int:
        if wanted > most:
            raise InvalidInput(f"{wanted} are more than the {most} hits of one search", field=option, remedy=remedy)
        return wanted

    return read


def pairs(texts: list[str], option: str) -> dict[str, Any]:
    """Return an object of `name=value` texts; a value that is a JSON number, true, false or null is that."""
    split = [text.partition("=") for text in texts]
    if not all(name and equals for name, equals, _ in split):
        raise InvalidInput("it is not of the form name=value", field=option, remedy=f"Write {option} colour=blue.")
    return {name: scalar(value) for name, _, value in split}


def scalar(text: str) -> Any:
    """Return a JSON number, boolean or null; anything else is the text itself."""
    try:
        return msgspec.json.decode(text, type=int | float | bool | None)
    except msgspec.DecodeError:
        return text


def texts(text: str, option: str) -> list[str]:
    """Return a list, written as a,b or as JSON."""
    if text.lstrip().startswith("["):
        found: list[str] = _decoded(text, option, list[str])
        return found
    return [part.strip() for part in text.split(",") if part.strip()]


def comma_separated(text: str, _option: str) -> list[str]:
    """Return the parts between commas."""
    return [part for item in text.split(",") if (part := item.strip())]


def json_value(text: str, option: str) -> Any:
    """Return any JSON value."""
    return _decoded(text, option, Any)


def _decoded(text: str, option: str, type_: Any) -> Any:
    try:
        return msgspec.json.decode(text, type=type_)
    except msgspec.DecodeError as error:
        raise InvalidInput(f"{text!r} cannot be read: {error}", field=option) from None


def _moment(text: str, option: str, time_of_a_date: time) -> datetime:
    try:
        found = datetime.combine(date.fromisoformat(text), time_of_a_date)
    except ValueError:
        try:
            found = datetime.fromisoformat(text)
        except ValueError:
            raise InvalidInput(f"{text!r} is not a time", field=option, remedy=_MOMENTS) from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
