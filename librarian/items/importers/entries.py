"""Entries that an importer yields from a source, in order."""

from dataclasses import dataclass
from typing import Any


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
