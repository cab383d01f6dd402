"""Entries that an importer yields from a source, in order."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from librarian.base.errors import InvalidInput
from librarian.items.importers.source import Source


@dataclass(frozen=True, slots=True)
class Row:
    """One item in the shape of `librarian.contracts.items`, as plain values.

    `where` is the position in the source, for messages; `remarks` name parts left out of the item and are counted in
    the report's notes.
    """

    where: str
    values: dict[str, Any]
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Fault:
    """A record that cannot be imported. `message` holds no text of the record."""

    where: str
    message: str


@dataclass(frozen=True, slots=True)
class Skip:
    """A record left out on purpose; counted by `reason` in the report's notes."""

    reason: str


Entry = Row | Fault | Skip
Read = Callable[[str, str], Iterable[Entry]]
"""Yields the entries of a file, given its path and text. Raises InvalidInput if it is of another format."""


def entries_of(
    source: Source, paths: Iterable[str], what: str, read: Callable[[str, str], Iterable[Entry]]
) -> Iterator[Entry]:
    """Return what `read` makes of the path and text of each file, and a fault for one that it cannot read.

    Raises InvalidInput at once if there is no file: the source holds no `what`.
    """
    files = list(paths)
    if not files:
        raise InvalidInput(f"{source.name} holds no {what}")
    return (entry for path in files for entry in _entries(source, path, read))


def _entries(source: Source, path: str, read: Read) -> Iterator[Entry]:
    try:
        yield from read(path, source.text(path))
    except InvalidInput as error:
        yield Fault(path, str(error))
