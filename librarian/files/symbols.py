"""Definitions in source code: functions, classes, types and constants, by tree-sitter grammars."""

import importlib
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from graph.files import NewSymbol

MAX_BYTES = 2_000_000
"""Of a text; longer ones are rarely written by hand, and take seconds to parse."""

_MAX_NAME = 200
# tsx has its own grammar, with the definitions of typescript.
_SAME_AS = {"tsx": ("typescript", "language_tsx")}


@dataclass(frozen=True, slots=True)
class _Grammar:
    language: Any
    query: Any


def languages() -> frozenset[str]:
    """Return the languages with supported definitions."""
    return frozenset(_table()) | frozenset(_SAME_AS)


def symbols_of(language: str | None, text: str) -> Sequence[NewSymbol]:
    """Return the definitions in a text, by line; none in an unsupported language. Faulty code gives partial results."""
    data = text.encode()
    if language is None or language not in languages() or len(data) > MAX_BYTES:
        return ()
    from tree_sitter import Parser, QueryCursor

    grammar = _grammar(language)
    tree = Parser(grammar.language).parse(data)
    found: dict[int, _Definition] = {}
    matches = sorted(QueryCursor(grammar.query).matches(tree.root_node), key=lambda match: match[0])
    for _, captured in matches:
        name = captured["name"][0]
        kind, spans = next((kind, nodes) for kind, nodes in captured.items() if kind not in ("name", "owner"))
        found[name.start_byte] = _Definition(name, kind, spans[0], captured.get("owner", []))
    return sorted(_scoped(found.values()), key=lambda symbol: (symbol.line, symbol.name))


@dataclass(frozen=True, slots=True)
class _Definition:
    """A definition as nodes of the syntax tree; `owner` names its type if it is outside the type's body."""

    name: Any
    kind: str
    span: Any
    owner: Sequence[Any]


def _scoped(definitions: Iterable[_Definition]) -> Iterator[NewSymbol]:
    """Yield definitions with the names of their enclosing definitions."""
    around: list[tuple[int, str]] = []
    for one in sorted(definitions, key=lambda one: (one.span.start_byte, -one.span.end_byte)):
        while around and around[-1][0] <= one.span.start_byte:
            around.pop()
        name = _text(one.name)
        scope = [*(outer for _, outer in around), *(_text(owner) for owner in one.owner)]
        yield NewSymbol(
            name, _kind(one, name), one.name.start_point.row + 1, one.span.end_point.row + 1, ".".join(scope)
        )
        around.append((one.span.end_byte, name))


def _kind(definition: _Definition, name: str) -> str:
    return "constant" if definition.kind == "variable" and name.isupper() else definition.kind


def _text(node: Any) -> str:
    return str(node.text.decode("utf-8", "replace"))[:_MAX_NAME]


@cache
def _table() -> Mapping[str, Mapping[str, str]]:
    return tomllib.loads(files("librarian.files").joinpath("symbols.toml").read_text(encoding="utf-8"))


@cache
def _grammar(language: str) -> _Grammar:
    from tree_sitter import Language, Query

    base, own = _SAME_AS.get(language, (language, None))
    entry = _table()[base]
    module = importlib.import_module(entry["module"])
    made = Language(getattr(module, own or entry.get("language", "language"))())
    return _Grammar(made, Query(made, entry["query"]))
