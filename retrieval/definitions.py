"""Which of several definitions of one name is meant. Pure."""

import re
from collections.abc import Collection, Sequence
from typing import Protocol, TypeVar

from retrieval.file_roles import Role, preference

_WORD = re.compile(r"\w+")
# Kinds that a name is mostly asked for, before those that many files define by the way.
_KINDS = (
    frozenset({"class", "interface", "struct", "enum", "trait", "type", "function", "macro", "module", "constant"}),
    frozenset({"method"}),
)
_SAME_KIND = {"def": "function", "func": "function", "fn": "function", "protocol": "class", "exception": "class"}
_CALLABLE = frozenset({"function", "method"})


class Definition(Protocol):
    """A definition as far as its place among others goes; `scope` has the names around it, with dots."""

    @property
    def path(self) -> str:
        """The file."""

    @property
    def name(self) -> str:
        """The name, as it is written."""

    @property
    def kind(self) -> str:
        """What it is: class, function, method."""

    @property
    def line(self) -> int:
        """Where it stands, from 1."""

    @property
    def scope(self) -> str:
        """The names around it."""


D = TypeVar("D", bound=Definition)


def by_meaning(
    found: Sequence[D], name: str, *, qualifiers: Sequence[str] = (), kind: str = "", roles: Collection[Role] = ()
) -> list[D]:
    """Return definitions of `name`, likeliest first: inside of what `qualifiers` name, of the kind that is asked for,
    with these letters' case, in sources before tests and generated files, classes and functions before methods.
    """

    def place(one: D) -> tuple[int, int, int, int, int, int, int, str, int]:
        return (
            -_qualified(one, qualifiers),
            0 if one.name == name else 1,
            0 if not kind or _is_kind(one.kind, kind) else 1,
            preference(one.path, roles),
            next((rank for rank, kinds in enumerate(_KINDS) if one.kind in kinds), len(_KINDS)),
            one.scope.count(".") + bool(one.scope),
            one.path.count("/"),
            one.path,
            one.line,
        )

    return sorted(found, key=place)


def _qualified(one: Definition, qualifiers: Sequence[str]) -> int:
    """How many of the names before it stand around a definition, the nearest of them as its own scope counting most."""
    if not qualifiers:
        return 0
    scope = one.scope.split(".") if one.scope else []
    around = {word.casefold() for word in (*scope, *_WORD.findall(one.path))}
    own = 2 * len(qualifiers) * (bool(scope) and scope[-1] == qualifiers[-1])
    return own + sum(qualifier.casefold() in around for qualifier in qualifiers)


def _is_kind(actual: str, asked: str) -> bool:
    wanted = _SAME_KIND.get(asked, asked)
    if wanted in _CALLABLE:
        return actual in _CALLABLE
    return actual == wanted or (wanted == "class" and actual in ("struct", "type", "interface", "enum"))
