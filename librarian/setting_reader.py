"""Variables of an environment, read one by one; each is remembered with where its value came from."""

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeVar

from librarian.errors import SettingsError
from librarian.setting_values import MASK, shown, without_userinfo

T = TypeVar("T")
Source = Literal["default", "environment", "option"]

# Read by the Makefile and by the tests, not by the program.
_READ_ELSEWHERE = frozenset({"LIBRARIAN_PYTHON", "LIBRARIAN_TEST_DOCKER"})


@dataclass(frozen=True, slots=True)
class Entry:
    """One setting as `librarian config show` prints it: `value` is masked where it is a secret."""

    name: str
    value: str
    source: Source


class Reader:
    """Reads variables and remembers each with its source."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = env
        self.entries: list[Entry] = []

    def read(self, name: str, parse: Callable[[str], T], *, default: T, secret: bool = False) -> T:
        """The parsed value of `name`, or `default` when it is unset or empty."""
        raw = self._env.get(name, "")
        if not raw.strip():
            self._note(name, default, "default", secret=secret)
            return default
        try:
            value = parse(raw if secret else raw.strip())
        except ValueError as error:
            named = "the value (not shown)" if secret else repr(without_userinfo(raw))
            raise SettingsError(
                f"{name}: {named} cannot be used: {error}.",
                field=name,
                remedy=f"Correct {name}, or unset it.",
            ) from None
        self._note(name, value, "environment", secret=secret)
        return value

    def _note(self, name: str, value: object, source: Source, *, secret: bool) -> None:
        self.entries.append(Entry(name, MASK if secret and value else shown(value), source))

    def unknown(self) -> list[str]:
        """A warning for each LIBRARIAN_* variable that nobody reads."""
        known = {entry.name for entry in self.entries} | _READ_ELSEWHERE
        odd = sorted(name for name in self._env if name.startswith("LIBRARIAN_") and name not in known)
        return [_unknown_variable(name, known) for name in odd]


def _unknown_variable(name: str, known: set[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    hint = f"; did you mean {close[0]}?" if close else "; `librarian config show` lists all"
    return f"{name} is not a setting of Librarian{hint}"
