"""Converts values of foreign records for rows; a value of another type becomes None or is left out, without error."""

import hashlib
import unicodedata
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, get_args

from librarian.base.fields import MemoryType

SHORT_CHARS = 500
MAX_TAGS = 100
TIME_REMARK = "Items stored without a time, which could not be read"
IMPORTANCE_REMARK = "Items stored without their importance, which is not a whole number from 1 to 10"

_TYPES = {name.casefold(): name for name in get_args(MemoryType)}
_MAX_ID_CHARS = 150
_DIGEST_DIGITS = 24


def text_of(value: Any) -> str | None:
    """Return a non-blank text, or a number as text; None for everything else."""
    if isinstance(value, str):
        return value.strip() or None
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return None


def texts_of(value: Any) -> list[str]:
    """Return the texts of a list, or of a comma-separated text."""
    values = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else [value]
    return [text for text in map(text_of, values) if text]


def short(text: str | None) -> str | None:
    """Cut `text` to the length of a short field."""
    return text and text[:SHORT_CHARS]


def tags_of(texts: Iterable[str]) -> list[str]:
    """Return distinct short tags, at most as many as an item holds."""
    return list(dict.fromkeys(text[:SHORT_CHARS] for text in texts))[:MAX_TAGS]


def memory_type(value: Any) -> str | None:
    """Return the memory type of this name, in any case."""
    return _TYPES.get(value.strip().casefold()) if isinstance(value, str) else None


def importance(value: Any) -> int | None:
    """Return a whole number from 1 to 10, given as number or text."""
    text = text_of(value)
    return int(text) if text in {str(number) for number in range(1, 11)} else None


def uid(prefix: str, source_id: str) -> str:
    """Return a uid made from the source's id: readable if the id fits in a uid, else a digest of it."""
    plain = len(source_id) <= _MAX_ID_CHARS and source_id.isascii() and source_id.isprintable()
    if plain and not set(source_id) & set(" /\\"):
        return f"{prefix}-{source_id}"
    normal = unicodedata.normalize("NFC", source_id)  # file systems differ in how they normalise one path
    return f"{prefix}-{hashlib.sha256(normal.encode('utf-8', 'surrogatepass')).hexdigest()[:_DIGEST_DIGITS]}"


def iso_time(value: Any) -> datetime | None:
    """Return an ISO 8601 date or date-time in UTC (one without an offset is taken as UTC), or epoch seconds."""
    if not isinstance(value, str):
        return epoch_time(value)
    try:
        moment = datetime.fromisoformat(value.strip())
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def epoch_time(value: Any) -> datetime | None:
    """Return seconds since 1970, given as number or text; None outside of the years 1 to 9999."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return datetime.fromtimestamp(float(value), UTC)
    except (ValueError, OverflowError, OSError):
        return None


def time_remarks(given: Any, read: datetime | None) -> tuple[str, ...]:
    """Return a remark if a given time could not be read."""
    return (TIME_REMARK,) if read is None and given not in (None, "") else ()


def without_nothing(values: dict[str, Any]) -> dict[str, Any]:
    """Return `values` without None and empty ones."""
    return {name: value for name, value in values.items() if value is not None and value not in ("", [])}
