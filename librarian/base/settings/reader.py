"""Reads groups of settings, declared as dataclasses, from the variables of an environment."""

import dataclasses
import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta

from librarian.base.errors import SettingsError
from librarian.base.settings.values import MASK, absolute_path, expectation, flag, shown, without_userinfo

T = TypeVar("T")
Source = Literal["default", "environment", "option"]

# Read by the Makefile and the tests only.
_READ_ELSEWHERE = frozenset({"LIBRARIAN_PYTHON", "LIBRARIAN_TEST_DOCKER"})


@dataclass(frozen=True, slots=True)
class Env:
    """Name of the variable that a field is read from.

    A number is in `unit`s; `in_home` is the default file name of a path in LIBRARIAN_HOME.
    """

    name: str
    unit: int = 1
    in_home: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """One setting as `librarian config show` prints it: a secret `value` is masked."""

    name: str
    value: str
    source: Source


@dataclass(slots=True)
class Reader:
    """Reads variables of `env` and records each with its source.

    A field annotated with `Env` is a variable: its type, and a `Meta` or parser beside it, say what values it takes; a
    field left out of the repr is a secret. A dataclass without `Env` is a group of further fields.
    """

    env: Mapping[str, str]
    entries: list[Entry] = field(default_factory=list)
    _values: dict[str, Any] = field(default_factory=dict)

    def read(self, group: type[T]) -> T:
        """Return the `group` of settings read from the environment. Raises SettingsError."""
        hints = get_type_hints(group, include_extras=True)
        values: dict[str, Any] = {}
        for declared in dataclasses.fields(group):  # type: ignore[arg-type] # every group is a dataclass
            kind, marks = _unwrapped(hints[declared.name])
            variable = next((mark for mark in marks if isinstance(mark, Env)), None)
            if variable is not None:
                values[declared.name] = self._variable(variable, declared, _parser(kind, marks))
            elif isinstance(kind, type) and dataclasses.is_dataclass(kind):
                values[declared.name] = self.read(kind)
        return group(**values)

    def unknown(self) -> list[str]:
        """Return a warning for each LIBRARIAN_* variable that is not a setting."""
        names = {entry.name for entry in self.entries} | _READ_ELSEWHERE
        unknown = sorted(name for name in self.env if name.startswith("LIBRARIAN_") and name not in names)
        return [_unknown_variable(name, names) for name in unknown]

    def _variable(self, variable: Env, declared: "dataclasses.Field[Any]", parse: Callable[[str], Any]) -> Any:
        name, secret = variable.name, not declared.repr
        raw = self.env.get(name, "")
        if raw.strip():
            try:
                value = parse(raw if secret else raw.strip())
            except ValueError as error:
                quoted = "the value (not shown)" if secret else repr(without_userinfo(raw))
                raise SettingsError(
                    f"{name}: {quoted} cannot be used: {error}.", field=name, remedy=f"Correct {name}, or unset it."
                ) from None
            stored = value * variable.unit if variable.unit > 1 else value
        else:
            stored = self._default(variable, declared)
            value = stored // variable.unit if variable.unit > 1 else stored
        self._values[name] = stored
        source: Source = "environment" if raw.strip() else "default"
        self.entries.append(Entry(name, MASK if secret and value else shown(value), source))
        return stored

    def _default(self, variable: Env, declared: "dataclasses.Field[Any]") -> Any:
        if variable.in_home:
            return self._values["LIBRARIAN_HOME"] / variable.in_home
        if declared.default_factory is not dataclasses.MISSING:
            return declared.default_factory()
        return declared.default


def _unwrapped(hint: Any) -> tuple[Any, list[Any]]:
    """Return a field's type without `| None`, and the annotations on it."""
    marks: list[Any] = []
    while True:
        if get_origin(hint) is Annotated:
            marks += hint.__metadata__
            hint = hint.__origin__
        elif get_origin(hint) in (Union, UnionType):
            (hint,) = (member for member in get_args(hint) if member is not NoneType)
        else:
            return hint, marks


def _parser(kind: Any, marks: list[Any]) -> Callable[[str], Any]:
    own = next((mark for mark in marks if callable(mark)), None)
    if own is not None:
        return own  # type: ignore[no-any-return] # a callable annotation is a parser
    if kind is bool:
        return flag
    if kind is Path:
        return absolute_path
    limits = next((mark for mark in marks if isinstance(mark, Meta)), Meta())

    def convert(raw: str) -> Any:
        try:
            text = raw.lower() if get_origin(kind) is Literal else raw
            return msgspec.convert(text, Annotated[kind, limits], strict=False)
        except msgspec.ValidationError:
            raise ValueError(expectation(kind, limits)) from None

    return convert


def _unknown_variable(name: str, names: set[str]) -> str:
    close = difflib.get_close_matches(name, names, n=1)
    hint = f"; did you mean {close[0]}?" if close else "; `librarian config show` lists all"
    return f"{name} is not a setting of Librarian{hint}"
