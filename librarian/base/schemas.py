"""JSON Schemas of the contracts: with shared components for the OpenAPI document, or inlined for tools."""

import inspect
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

COMPONENTS = "#/components/schemas/"

Schema = dict[str, Any]

# Python's spelling of a pattern -> its equivalent in ECMA 262, which JSON Schema asks for: there `$` is the very end,
# `\s` matches fewer spaces, and `\w` only ASCII, so non-ASCII characters pass here and the service checks them.
_PORTABLE = (
    ("$(?!\\n)", "$"),
    ("\\Z", "$"),
    ("[^\\s", "[^\\s\\x1c-\\x1f\\x85"),
    ("\\w", "\\w\\x80-\\uffff"),
)
# Entries without meaning.
_SILENT: tuple[tuple[str, Any], ...] = (("default", None), ("required", []))


def schemas_of(types: Iterable[Any]) -> tuple[list[Schema], dict[str, Schema]]:
    """Return a schema for each type, and the components they refer to as `#/components/schemas/NAME`."""
    schemas, components = _generated(types)
    return _tidy(schemas), _tidy(components)


def inlined_schema(type_: Any) -> Schema:
    """Return the schema of a struct as one object without references, as tool calling requires.

    Terminates because no contract is recursive.
    """
    (schema,), components = _generated([type_])
    inlined: Schema = _tidy(_inlined(schema, components))
    return inlined


def _generated(types: Iterable[Any]) -> tuple[list[Schema], dict[str, Schema]]:
    schemas, components = msgspec.json.schema_components(list(types), ref_template=COMPONENTS + "{name}")
    return list(schemas), components


def _inlined(schema: Any, components: Mapping[str, Schema]) -> Any:
    if isinstance(schema, list):
        return [_inlined(part, components) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        target = components[schema["$ref"].removeprefix(COMPONENTS)]
        return _inlined({**target, **{key: value for key, value in schema.items() if key != "$ref"}}, components)
    # The discriminator's mapping names components, which are inlined now.
    return {key: _inlined(value, components) for key, value in schema.items() if key != "discriminator"}


def _tidy(schema: Any) -> Any:
    """Return an equivalent schema in the form that most readers support."""
    if isinstance(schema, list):
        return [_tidy(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    tidied = {key: _tidy(value) for key, value in schema.items() if (key, value) not in _SILENT}
    if isinstance(tidied.get("description"), str):
        tidied["description"] = inspect.cleandoc(tidied["description"])
    if isinstance(tidied.get("pattern"), str):
        for ours, portable in _PORTABLE:
            tidied["pattern"] = tidied["pattern"].replace(ours, portable)
    if isinstance(tidied.get("enum"), list) and all(isinstance(value, str) for value in tidied["enum"]):
        tidied["type"] = "string"
    return _described(tidied)


def _described(schema: Schema) -> Schema:
    """Return a nullable field's schema with the description of its type beside `anyOf`, where readers look for it."""
    options = schema.get("anyOf")
    if not isinstance(options, list) or "description" in schema:
        return schema
    valued = [option for option in options if option != {"type": "null"}]
    if len(valued) != 1 or len(options) != 2 or "description" not in valued[0]:
        return schema
    description = valued[0]["description"]
    bare = [{key: value for key, value in option.items() if key != "description"} for option in options]
    return {"description": description, **schema, "anyOf": bare}
