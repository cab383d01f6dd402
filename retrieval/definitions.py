"""Chooses among several definitions of one name. Pure."""

import re
from collections.abc import Collection, Sequence
from typing import Protocol, TypeVar

from retrieval.file_roles import Role, preference

_WORD = re.compile(r"\w+")
# Kinds that are mostly meant, before those that many files define in passing.
_KINDS = (
    frozenset({"class", "interface", "struct", "enum", "trait", "type", "function", "macro", "module", "constant"}),
    frozenset({"method"}),
)
_SAME_KIND = {"def": "function", "func": "function", "fn": "function", "protocol": "class", "exception": "class"}
_CALLABLE = frozenset({"function", "method"})


class Definition(Protocol):
    """The fields of a definition that decide its rank; `scope` has the enclosing names, separated by dots."""

    @property
    def path(self) -> str:
        """The file."""

    @property
    def name(self) -> str:
        """The name as written."""

    @property
    def kind(self) -> str:
        """Its kind: class, function, method."""

    @property
    def line(self) -> int:
        """Its line, from 1."""

    @property
    def scope(self) -> str:
        """The enclosing names."""


D = TypeVar("D", bound=Definition)


def by_meaning(
    found: Sequence[D], name: str, *, qualifiers: Sequence[str] = (), kind: str = "", roles: Collection[Role] = ()
) -> list[D]:
    """Return definitions of `name`, likeliest first: inside what `qualifiers` name, of the requested kind, in the same
    letter case, in sources before tests and generated files, classes and functions before methods.
    """

    def rank_of(definition: D) -> tuple[int, int, int, int, int, int, int, str, int]:
        return (
            -_qualified(definition, qualifiers),
            0 if definition.name == name else 1,
            0 if not kind or _is_kind(definition.kind, kind) else 1,
            preference(definition.path, roles),
            next((rank for rank, kinds in enumerate(_KINDS) if definition.kind in kinds), len(_KINDS)),
            definition.scope.count(".") + bool(definition.scope),
            definition.path.count("/"),
            definition.path,
            definition.line,
        )

    return sorted(found, key=rank_of)


def _qualified(definition: Definition, qualifiers: Sequence[str]) -> int:
    """Return how many of the `qualifiers` enclose a definition; the nearest, if in its own scope, counts most."""
    if not qualifiers:
        return 0
    scope = definition.scope.split(".") if definition.scope else []
    around = {word.casefold() for word in (*scope, *_WORD.findall(definition.path))}
    own = 2 * len(qualifiers) * (bool(scope) and scope[-1] == qualifiers[-1])
    return own + sum(qualifier.casefold() in around for qualifier in qualifiers)


def _is_kind(actual: str, requested: str) -> bool:
    wanted = _SAME_KIND.get(requested, requested)
    if wanted in _CALLABLE:
        return actual in _CALLABLE
    return actual == wanted or (wanted == "class" and actual in ("struct", "type", "interface", "enum"))
