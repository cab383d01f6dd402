"""Field mapping: turns rows of other shapes into Librarian's rows without a converter.

A map names the source of each field of a row::

    kind = "=message"              # '=' starts a fixed text
    namespace = "sample_id"        # a field of the source row; a.b.c goes into objects
    author_name = "speaker"
    text = "text"
    session_id = "{session}"       # braces build a text from fields, numbers included
    position = "#"                 # the line number, from 1
    tags = "[=imported, topic]"    # square brackets build a list; elements that are lists are flattened

Fields whose source is missing or null are left out. A map is a TOML file, one of the built-in names, or inline
`field=source,field=source`. Built-in maps are in `maps/` beside this module.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from librarian.base.errors import InvalidInput
from librarian.items.contracts import EdgeIn, FactIn, MemoryIn, MessageIn

_BRACES = re.compile(r"\{([^{}]+)\}")
_TARGETS = frozenset(
    {"kind"} | {name for row in (MessageIn, FactIn, MemoryIn, EdgeIn) for name in row.__struct_fields__}
)


@dataclass(frozen=True, slots=True)
class RowMap:
    """The source of each field of a row."""

    sources: Mapping[str, str]

    @classmethod
    def parse(cls, text: str) -> "RowMap":
        """Return a map from a TOML file's path, a built-in name, or inline `field=source,…`. Raises InvalidInput."""
        if text in built_in_maps():
            return cls.from_toml(
                files("librarian.items").joinpath("maps", f"{text}.toml").read_text(encoding="utf-8"), text
            )
        if text.endswith(".toml"):
            path = Path(text).expanduser()
            if not path.is_file():
                raise InvalidInput(f"no map file {text!r}", field="--map", remedy=_REMEDY)
            return cls.from_toml(path.read_text(encoding="utf-8"), text)
        pairs = [pair.partition("=") for pair in text.split(",")]
        if not all(separator for _, separator, _ in pairs):
            raise InvalidInput(
                f"{text!r} is neither a file, a built-in map nor field=source,…", field="--map", remedy=_REMEDY
            )
        return cls.checked({target.strip(): source.strip() for target, _, source in pairs})

    @classmethod
    def from_toml(cls, text: str, name: str) -> "RowMap":
        """Return a map from TOML text; `name` stands in errors."""
        try:
            sources = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise InvalidInput(f"{name}: {error}", field="--map") from error
        return cls.checked(sources)

    @classmethod
    def checked(cls, sources: Mapping[str, Any]) -> "RowMap":
        """Return a map whose fields exist and whose sources are texts."""
        for target, source in sources.items():
            if target not in _TARGETS:
                raise InvalidInput(f"rows have no field {target!r}", field="--map", remedy=f"one of {sorted(_TARGETS)}")
            if not isinstance(source, str) or not source:
                raise InvalidInput(f"the source of {target!r} must be a text", field="--map")
        if "kind" not in sources:
            raise InvalidInput(
                "the map does not say what kind the rows are", field="--map", remedy='add kind = "=message"'
            )
        return cls(dict(sources))

    def into(self, namespace: str) -> "RowMap":
        """Return the same map with another source for the namespace."""
        return RowMap({**self.sources, "namespace": namespace})

    def apply(self, row: Mapping[str, Any], line: int) -> dict[str, Any]:
        """Return the mapped row; `line` is its number in the source, from 1."""
        mapped = {target: _value(source, row, line) for target, source in self.sources.items()}
        return {target: value for target, value in mapped.items() if value is not None}


_REMEDY = "see `librarian ingest --help` for the forms of --map"


def built_in_maps() -> list[str]:
    """Return names of the maps that come with Librarian."""
    folder = files("librarian.items").joinpath("maps")
    return sorted(entry.name.removesuffix(".toml") for entry in folder.iterdir() if entry.name.endswith(".toml"))


def _value(source: str, row: Mapping[str, Any], line: int) -> Any:
    if source.startswith("="):
        return source[1:]
    if source == "#":
        return line
    if source.startswith("[") and source.endswith("]"):
        return _list([_value(part.strip(), row, line) for part in source[1:-1].split(",")])
    if "{" in source:
        return _BRACES.sub(lambda match: _text(_field(match[1], row)), source)
    return _field(source, row)


def _list(values: list[Any]) -> list[Any]:
    spread: list[Any] = []
    for value in values:
        if isinstance(value, list):
            spread.extend(value)
        elif value is not None:
            spread.append(value)
    return spread


def _field(path: str, row: Mapping[str, Any]) -> Any:
    value: Any = row
    for part in path.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _text(value: Any) -> str:
    return "" if value is None else str(value)
