"""Walking a source tree: its files, and the reasons for exclusions."""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from librarian.files.ignoring import IGNORED, Rules, reason_by_name
from librarian.files.reading import UNREADABLE

SYMLINK = "symlink"
SPECIAL = "special"
NOT_UTF8 = "name_not_utf8"
MAX_PATH_CHARS = 1_500
TOO_LONG = "path_too_long"


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file by its path from the root, with `/` between folders."""

    path: str
    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class Skipped:
    """An excluded file or folder, and the reason; a folder's path ends with `/`."""

    path: str
    reason: str


def walk(root: Path, folder: str = "") -> Iterator[FileEntry | Skipped]:
    """Yield every file below `folder` of `root`, folder by folder in order of names. Symbolic links are not followed.

    Files that vanish meanwhile are skipped.
    """
    rules = Rules.above(root)
    for part in [*Path(folder).parents][::-1] if folder else ():
        rules = rules.inside(root / part)
    pending = [(root / folder, folder, rules)]
    while pending:
        current, path, rules = pending.pop()
        try:
            with os.scandir(current) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except FileNotFoundError:
            continue
        except OSError:
            yield Skipped(f"{path}/", UNREADABLE)
            continue
        inner = rules.inside(current)
        folders = []
        for entry in entries:
            below = f"{path}/{entry.name}" if path else entry.name
            seen = _seen(entry, below, inner)
            if isinstance(seen, str):
                folders.append((current / entry.name, seen, inner))
            elif seen is not None:
                yield seen
        pending += reversed(folders)


def look(root: Path, path: str) -> FileEntry | Skipped | None:
    """Return the result of `walk` for one path; None if nothing is there."""
    rules = Rules.above(root)
    parent = root
    *folders, name = path.split("/")
    for depth, part in enumerate([*folders, name]):
        rules = rules.inside(parent)
        entry = _entry(parent, part)
        if entry is None:
            return None
        seen = _seen(entry, "/".join([*folders, name][: depth + 1]), rules)
        if not isinstance(seen, str):
            return seen
        parent = parent / part
    return None


def _entry(parent: Path, name: str) -> os.DirEntry[str] | None:
    try:
        with os.scandir(parent) as listing:
            return next((entry for entry in listing if entry.name == name), None)
    except OSError:
        return None


def _seen(entry: os.DirEntry[str], path: str, rules: Rules) -> FileEntry | Skipped | str | None:
    """Return the kind of an entry: a file, excluded, the path of a folder to enter, or vanished."""
    try:
        folder = entry.is_dir(follow_symlinks=False)
        shown = f"{path}/" if folder else path
        if not _is_utf8(path):
            return Skipped(shown.encode("utf-8", "replace").decode(), NOT_UTF8)
        if (reason := reason_by_name(entry, folder=folder)) is not None:
            return Skipped(shown, reason)
        if entry.is_symlink():
            return Skipped(path, SYMLINK)
        if rules.ignore(Path(entry.path).as_posix(), folder=folder):
            return Skipped(shown, IGNORED)
        if len(path) > MAX_PATH_CHARS:
            return Skipped(shown, TOO_LONG)
        if folder:
            return path
        about = entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return None
    except OSError:
        return Skipped(path, UNREADABLE)
    if not stat.S_ISREG(about.st_mode):
        return Skipped(path, SPECIAL)
    return FileEntry(path, about.st_size, about.st_mtime_ns)


def _is_utf8(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
