"""What to send instead of a value that does not fit its type."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from librarian.base.schemas import Schema, inlined_schema

_STEP = re.compile(r"\.(?P<name>\w+)|(?P<element>\[)")
_MOMENT = "Write a date and time such as 2026-03-01T09:30:00Z."


def remedy_for(type_: Any, path: str, message: str) -> str | None:
    """Return what fits at `path` (such as `$.filters.kinds[0]`) of `type_`, for a message of msgspec; None if the
    message itself says that, or if it depends on which of several types is meant.
    """
    if "RFC3339" in message:
        return _MOMENT
    steps = [step["name"] or "" for step in _STEP.finditer(path)]
    remedies = {remedy for schema in _at(_schema(type_), steps) if (remedy := _fitting(schema, message)) is not None}
    return remedies.pop() if len(remedies) == 1 else None


def _fitting(schema: Schema, message: str) -> str | None:
    if "unknown field" in message and "properties" in schema:
        return f"Fields: {', '.join(schema['properties'])}."
    if "enum value" in message and "enum" in schema:
        return f"One of: {', '.join(map(str, schema['enum']))}."
    return schema.get("description") if "matching regex" in message else None


@cache
def _schema(type_: Any) -> Schema:
    return inlined_schema(type_)


def _at(schema: Schema, steps: Sequence[str]) -> Iterator[Schema]:
    """Yield the schemas of the value that the steps lead to: names of fields, or "" for the elements of an array."""
    for option in schema.get("anyOf", ()):
        yield from _at({key: schema[key] for key in ("description",) if key in schema} | option, steps)
    if not steps:
        yield schema
    elif not steps[0] and isinstance(schema.get("items"), dict):
        yield from _at(schema["items"], steps[1:])
    elif steps[0] in schema.get("properties", ()):
        yield from _at(schema["properties"][steps[0]], steps[1:])
