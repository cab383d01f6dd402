"""Output schemas, rewritten so that clients of the protocol, which check every answer against them, do so quickly.

They accept the same values. Checking a list of hits of four kinds against `anyOf` tries every kind for each hit;
branching on the kind first, and null as a type, need one test each. The check is half of a call's cost for a client.
"""

from collections.abc import Sequence
from typing import Any

from librarian.base.schemas import Schema

_NULL = {"type": "null"}


def quickly_checked(schema: Any) -> Any:
    """Return the schema with choices between types and between kinds decided by one test where possible."""
    if isinstance(schema, list):
        return [quickly_checked(option) for option in schema]
    if not isinstance(schema, dict):
        return schema
    checked = {key: quickly_checked(value) for key, value in schema.items()}
    options = checked.get("anyOf")
    if not isinstance(options, list):
        return checked
    rest = {key: value for key, value in checked.items() if key != "anyOf"}
    return _nullable(rest, options) or _by_kind(rest, options) or checked


def _nullable(rest: Schema, options: Sequence[Schema]) -> Schema | None:
    """Return "one type or null" as a list of types; the other keywords of the type do not apply to null."""
    valued = [option for option in options if option != _NULL]
    if len(options) != 2 or len(valued) != 1:
        return None
    (option,) = valued
    if not isinstance(option.get("type"), str) or "const" in option:
        return None
    enum = {"enum": [*option["enum"], None]} if "enum" in option else {}
    return {**option, **rest, **enum, "type": [option["type"], "null"]}


def _by_kind(rest: Schema, options: Sequence[Schema]) -> Schema | None:
    """Return a choice between objects that a required property distinguishes, as conditions on that property."""
    tag = _tag_of(options)
    if tag is None:
        return None
    *earlier, chosen = options
    for option in reversed(earlier):
        (kind,) = option["properties"][tag]["enum"]
        chosen = {"if": {"properties": {tag: {"const": kind}}}, "then": option, "else": chosen}
    return {**rest, "type": "object", **chosen}


def _tag_of(options: Sequence[Schema]) -> str | None:
    """Return the property with a distinct constant in each option, if there is one."""
    if any(option.get("type") != "object" for option in options):
        return None
    for name in options[0]["properties"]:
        values = [option["properties"].get(name, {}).get("enum", ()) for option in options]
        required = all(name in option.get("required", ()) for option in options)
        if (
            required
            and all(len(option) == 1 for option in values)
            and len({option[0] for option in values}) == len(options)
        ):
            return str(name)
    return None
