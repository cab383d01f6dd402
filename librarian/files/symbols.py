"""What source code defines: functions, classes, types, constants, as tree-sitter's grammars see them."""

import importlib
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from graph.files import NewSymbol

MAX_BYTES = 2_000_000
"""Of a text; longer ones are hardly written by hand, and take seconds to parse."""

_MAX_NAME = 200
# tsx has a grammar of its own, with the definitions of typescript.
_SAME_AS = {"tsx": ("typescript", "language_tsx")}


@dataclass(frozen=True, slots=True)
class _Grammar:
    language: Any
    query: Any


def languages() -> frozenset[str]:
    """Return languages whose definitions are known."""
    return frozenset(_table()) | frozenset(_SAME_AS)


def symbols_of(language: str | None, text: str) -> Sequence[NewSymbol]:
    """Return the definitions in a text, by line; none in a language without a grammar here. Faulty code gives what it
    can.
    """
    data = text.encode()
    if language is None or language not in languages() or len(data) > MAX_BYTES:
        return ()
    from tree_sitter import Parser, QueryCursor

    grammar = _grammar(language)
    tree = Parser(grammar.language).parse(data)
    found: dict[int, NewSymbol] = {}
    matches = sorted(QueryCursor(grammar.query).matches(tree.root_node), key=lambda match: match[0])
    for _, captured in matches:
        name = captured["name"][0]
        kind, spans = next((kind, nodes) for kind, nodes in captured.items() if kind != "name")
        found[name.start_byte] = _symbol(name, kind, spans[0])
    return sorted(found.values(), key=lambda symbol: (symbol.line, symbol.name))


def _symbol(name: Any, kind: str, span: Any) -> NewSymbol:
    text = name.text.decode("utf-8", "replace")[:_MAX_NAME]
    said = "constant" if kind == "variable" and text.isupper() else kind
    return NewSymbol(text, said, name.start_point.row + 1, span.end_point.row + 1)


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
