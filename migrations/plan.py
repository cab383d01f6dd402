"""Decides which migrations to run, without touching the graph: files and records in, plan out.

A migration is a file `versions/NNNN_name.cypher`. Its first line states its kind::

    // librarian: kind=schema
    // librarian: kind=data; idempotent=yes

A statement ends with `;` at the end of a line and is one auto-committed transaction. After a crash an idempotent
migration is run again from its first statement: a schema file is idempotent if every statement says IF [NOT] EXISTS, a
data file if its header says so.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from importlib.resources import files
from importlib.resources.abc import Traversable
from itertools import pairwise
from typing import Literal, cast

from migrations.errors import (
    EditedMigration,
    InterruptedMigration,
    InvalidMigrationFile,
    MissingMigration,
    NewerDatabase,
)

Kind = Literal["schema", "data"]

_FILE_NAME = re.compile(r"(\d{4})_([a-z][a-z0-9_]*)\.cypher")
_HEADER = re.compile(r"// librarian: kind=(schema|data)(?:; idempotent=(yes))?")
_REPEATABLE = re.compile(r"\bIF\s+(?:NOT\s+)?EXISTS\b", re.IGNORECASE)
_CREATED = re.compile(r"\bCREATE\s+(?:\w+\s+)?(?:INDEX|CONSTRAINT)\s+(\w+)\s+IF\s+NOT\s+EXISTS\b", re.IGNORECASE)
# First whatever can hide a semicolon, then the end of a statement, then any single character.
_TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)
    |'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`[^`]*`
    |(?P<end>;[ \t]*(?=\n|\Z))
    |.""",
    re.DOTALL | re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Migration:
    """One migration file. `checksum` is the SHA-256 of its normalised text, in hex."""

    version: str
    name: str
    kind: Kind
    checksum: str
    statements: tuple[str, ...]
    idempotent: bool

    @property
    def created(self) -> frozenset[str]:
        """Names of the indexes and constraints that its statements create."""
        return frozenset(name for statement in self.statements for name in _CREATED.findall(statement))


@dataclass(frozen=True, slots=True)
class Record:
    """The graph's record of a migration: `status` is running or applied."""

    version: str
    name: str
    kind: str
    checksum: str
    status: str
    finished_at: datetime | None = None


class State(StrEnum):
    """State of a migration. `running` means in progress, or left behind by a crash."""

    PENDING = "pending"
    RUNNING = "running"
    APPLIED = "applied"
    EDITED = "edited"
    MISSING = "missing"
    NEWER = "newer"


@dataclass(frozen=True, slots=True)
class Status:
    """A migration according to its file and its record; `applied_at` is None until it is applied."""

    version: str
    name: str
    kind: str
    checksum: str
    state: State
    applied_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """Differences between files and records, each ordered by version."""

    pending: tuple[Migration, ...] = ()
    edited: tuple[Migration, ...] = ()
    missing: tuple[Record, ...] = ()
    newer: tuple[Record, ...] = ()
    interrupted: tuple[Migration, ...] = ()

    @property
    def runnable(self) -> tuple[Migration, ...]:
        """Pending and interrupted migrations, ordered by version."""
        return tuple(sorted((*self.pending, *self.interrupted), key=lambda migration: migration.version))

    def require_runnable(self) -> None:
        """Raise the error that names the blocking versions, if there are any."""
        if self.newer:
            raise NewerDatabase(_explain(NewerDatabase, self.newer))
        if self.missing:
            raise MissingMigration(_explain(MissingMigration, self.missing))
        if self.edited:
            raise EditedMigration(_explain(EditedMigration, self.edited))
        if unsafe := [migration for migration in self.interrupted if not migration.idempotent]:
            raise InterruptedMigration(_explain(InterruptedMigration, unsafe))

    def problems(self) -> list[str]:
        """Return one line for each version that is not applied exactly as in its file."""
        groups: tuple[tuple[str, Sequence[Migration | Record]], ...] = (
            ("was applied by a newer Librarian", self.newer),
            ("was applied, but its file is missing", self.missing),
            ("was edited after it was applied", self.edited),
            ("was started and has not finished", self.interrupted),
            ("is not applied yet", self.pending),
        )
        return [f"migration {entry.version}_{entry.name} {what}" for what, group in groups for entry in group]


def discover(folder: Traversable | None = None) -> tuple[Migration, ...]:
    """Return all migrations of `folder` (default: the package's own) by version. Raises InvalidMigrationFile."""
    entries = (folder or files("migrations") / "versions").iterdir()
    found = [
        parse(entry.name, entry.read_text(encoding="utf-8")) for entry in entries if entry.name.endswith(".cypher")
    ]
    found.sort(key=lambda migration: migration.version)
    for earlier, later in pairwise(found):
        if earlier.version == later.version:
            raise InvalidMigrationFile(
                f"{earlier.name} and {later.name} both have version {later.version}; renumber one"
            )
    return tuple(found)


def parse(file_name: str, text: str) -> Migration:
    """Return the migration in one file's text. Raises InvalidMigrationFile."""
    named = _FILE_NAME.fullmatch(file_name)
    if named is None:
        raise InvalidMigrationFile(f"{file_name}: the name is not of the form 0001_name.cypher")
    text = normalise(text)
    header = _HEADER.fullmatch(text.partition("\n")[0])
    if header is None:
        raise InvalidMigrationFile(f"{file_name}: the first line is not '// librarian: kind=schema' or 'kind=data'")
    statements = tuple(split(text))
    if not statements:
        raise InvalidMigrationFile(f"{file_name}: it contains no statement")
    repeatable = header[1] == "schema" and all(map(_REPEATABLE.search, statements))
    return Migration(
        version=named[1],
        name=named[2],
        kind=cast("Kind", header[1]),
        checksum=hashlib.sha256(text.encode()).hexdigest(),
        statements=statements,
        idempotent=repeatable or header[2] == "yes",
    )


def normalise(text: str) -> str:
    """Return the text to hash and run: no BOM, LF line ends, no blanks at line ends, no empty lines at the end."""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join(line.rstrip(" \t") for line in lines).rstrip("\n")


def split(text: str) -> Iterator[str]:
    """Yield the statements of a file, without comments; a `;` in quotes or within a line does not end one."""
    parts: list[str] = []
    for token in _TOKEN.finditer(text):
        if token["end"] is None:
            parts.append(" " if token["comment"] else token[0])
        else:
            yield from _statement(parts)
            parts = []
    yield from _statement(parts)


def plan(migrations: Sequence[Migration], records: Sequence[Record]) -> Plan:
    """Compare files with records. A record beyond the newest file is newer, any other without a file is missing."""
    recorded = {record.version: record for record in records}
    versions = {migration.version for migration in migrations}
    newest = max(versions, default="")
    unknown = sorted((entry for entry in records if entry.version not in versions), key=lambda record: record.version)
    state = {entry.version: _state(entry, recorded.get(entry.version)) for entry in migrations}

    def those(wanted: State) -> tuple[Migration, ...]:
        return tuple(entry for entry in migrations if state[entry.version] is wanted)

    return Plan(
        pending=those(State.PENDING),
        edited=those(State.EDITED),
        missing=tuple(record for record in unknown if record.version < newest),
        newer=tuple(record for record in unknown if record.version > newest),
        interrupted=those(State.RUNNING),
    )


def statuses(migrations: Sequence[Migration], records: Sequence[Record]) -> list[Status]:
    """Return every migration with a file or a record, ordered by version."""
    recorded = {record.version: record for record in records}
    found = [_file_status(entry, recorded.get(entry.version)) for entry in migrations]
    decided = plan(migrations, records)
    for state, group in ((State.MISSING, decided.missing), (State.NEWER, decided.newer)):
        found += [
            Status(entry.version, entry.name, entry.kind, entry.checksum, state, entry.finished_at) for entry in group
        ]
    return sorted(found, key=lambda status: status.version)


def _file_status(migration: Migration, record: Record | None) -> Status:
    applied_at = record.finished_at if record else None
    state = _state(migration, record)
    return Status(migration.version, migration.name, migration.kind, migration.checksum, state, applied_at)


def _state(migration: Migration, record: Record | None) -> State:
    if record is None:
        return State.PENDING
    if record.status == State.RUNNING:
        return State.RUNNING
    return State.APPLIED if record.checksum == migration.checksum else State.EDITED


def _statement(parts: list[str]) -> Iterator[str]:
    if text := "".join(parts).strip():
        yield text


def _explain(error: type[Exception], versions: Sequence[Migration | Record]) -> str:
    names = ", ".join(f"{entry.version}_{entry.name}" for entry in versions)
    return f"{names}: {error.__doc__}"
