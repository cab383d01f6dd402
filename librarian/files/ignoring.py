"""Exclusions of a walk: hidden names, dependency folders, and matches of .gitignore and .ignore."""

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HIDDEN = "hidden"
IGNORED = "ignored"
DEPENDENCIES = "dependencies"

_DEPENDENCIES = frozenset(
    {"node_modules", "bower_components", "jspm_packages", "site-packages", "__pycache__", "__pypackages__"}
)
# The later of two files in one folder takes precedence.
_RULE_FILES = (".gitignore", ".ignore")
_VIRTUALENV = "pyvenv.cfg"


@dataclass(frozen=True, slots=True)
class Rules:
    """The ignore files that apply to one folder, outermost first, each with its own folder."""

    specs: tuple[tuple[str, Any], ...] = ()

    @classmethod
    def above(cls, root: Path) -> "Rules":
        """Return the rules of folders above `root`, up to the top of its repository; none outside a repository."""
        folders = [root, *root.parents]
        top = next((i for i, folder in enumerate(folders) if (folder / ".git").exists()), None)
        if top is None:
            return cls()
        rules = cls()
        exclude = folders[top] / ".git" / "info" / "exclude"
        rules = rules._with(folders[top], [exclude])
        for folder in reversed(folders[1 : top + 1]):
            rules = rules.inside(folder)
        return rules

    def inside(self, folder: Path) -> "Rules":
        """Return these rules plus those of the ignore files in `folder`."""
        return self._with(folder, [folder / name for name in _RULE_FILES])

    def ignore(self, path: str, *, folder: bool) -> bool:
        """Return whether the innermost matching rule excludes an absolute path."""
        for base, spec in reversed(self.specs):
            said = spec.check_file(path[len(base) :] + ("/" if folder else "")).include
            if said is not None:
                return bool(said)
        return False

    def _with(self, folder: Path, files: Iterable[Path]) -> "Rules":
        lines = list(_lines(files))
        return Rules((*self.specs, (f"{folder.as_posix().rstrip('/')}/", _spec(lines)))) if lines else self


def is_rule_file(name: str) -> bool:
    """Return whether the file holds ignore rules."""
    return name in _RULE_FILES


def reason_by_name(entry: os.DirEntry[str], *, folder: bool) -> str | None:
    """Return why a name is excluded regardless of ignore files."""
    if entry.name.startswith("."):
        return HIDDEN
    if folder and (entry.name in _DEPENDENCIES or (Path(entry.path) / _VIRTUALENV).exists()):
        return DEPENDENCIES
    return None


def _lines(files: Iterable[Path]) -> Iterator[str]:
    for file in files:
        try:
            yield from file.read_text(encoding="utf-8-sig", errors="replace").splitlines()
        except OSError:  # usually there is none
            continue


def _spec(lines: list[str]) -> Any:
    from pathspec import GitIgnoreSpec

    usable = []
    for line in lines:
        try:
            GitIgnoreSpec.from_lines([line])
        except (ValueError, re.error):
            continue  # git itself skips a pattern that it cannot parse
        usable.append(line)
    return GitIgnoreSpec.from_lines(usable)
