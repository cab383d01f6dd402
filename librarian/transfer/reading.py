"""Reads an export: checks that it is complete, and yields its rows in portions."""

import gzip
import hashlib
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO, TypeAlias, cast

import msgspec

from graph.exporting import Section
from graph.portable import properties_from_json, vector_from_json
from librarian.base.errors import InvalidExport
from librarian.base.lines import MAX_LINE_BYTES
from librarian.transfer.contracts import (
    FORMAT,
    VERSION,
    AnyRow,
    ChangeRow,
    ConversationRow,
    DataRow,
    EdgeRow,
    FileRow,
    FooterRow,
    HeaderRow,
    ItemRow,
    NamespaceRow,
    PersonRow,
    SweepRow,
    TombstoneRow,
)
from migrations.plan import discover

PORTION_ROWS = 500
"""Maximum number of rows in a transaction."""

_GZIP_MAGIC = b"\x1f\x8b"
_PORTION_BYTES = 4 * 2**20
# An item's line includes its whole history.
_LONGEST_LINE = 8 * MAX_LINE_BYTES
_PIECE_BYTES = 2**20
# An export's texts compress to a tenth at best; gzip can compress spaces to a thousandth.
_UNPACKED_RATIO = 100
_UNPACKED_BYTES = 32 * 2**20
# Derived from the namespace, or stored separately.
_RESERVED = frozenset({"namespace", "tokens"})
_OWN: Mapping[type[DataRow], frozenset[str]] = {
    ConversationRow: frozenset({"conversation_id"}),
    PersonRow: frozenset({"person_id"}),
    FileRow: frozenset({"path"}),
    ItemRow: frozenset({"uid", "kind"}),
    SweepRow: frozenset({"sweep_id"}),
    ChangeRow: frozenset({"sweep_id"}),
    EdgeRow: frozenset(),
    TombstoneRow: frozenset({"identity"}),
}
_UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
_ANOTHER = "Import it with the Librarian that wrote it, or one of the same version."

Rows: TypeAlias = list[dict[str, Any]]


@dataclass(slots=True)
class ExportFacts:
    """Summary of a complete export; `rows` counts those of each namespace, in the order of the file."""

    header: HeaderRow
    sha256: str
    rows: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Portion:
    """Rows of one kind and namespace; including them, `done` rows of the namespace are read."""

    namespace: str
    section: Section
    rows: Rows
    done: int


def examine(file: BinaryIO) -> ExportFacts:
    """Read a whole seekable file and summarise it. Raises InvalidExport for a file that is not an export of this
    version, is incomplete, or was changed.
    """
    lines = _lines(file)
    digest = hashlib.sha256()
    first = next(lines, b"")
    facts = ExportFacts(_header(first), "")
    digest.update(first)
    counts: Counter[str] = Counter()
    namespace = None
    for number, line in enumerate(lines, start=2):
        row = _decoded(line, number)
        if isinstance(row, FooterRow):
            _check_end(facts, row, counts, digest.hexdigest(), next(lines, None))
            facts.sha256 = row.sha256
            return facts
        digest.update(line)
        if isinstance(row, NamespaceRow):
            namespace = row.namespace
            announced = [holding.namespace for holding in facts.header.namespaces]
            if namespace not in announced or namespace in facts.rows:
                raise InvalidExport(f"line {number} begins a namespace that the header does not name, or a second time")
            facts.rows[namespace] = 0
        elif isinstance(row, HeaderRow) or namespace is None:
            raise InvalidExport(f"line {number} is out of place")
        else:
            _check(row, number, facts.header)
            counts[_section(row)] += 1
            facts.rows[namespace] += 1
    raise InvalidExport("the file is truncated", remedy="Fetch or export it again.")


def portions(file: BinaryIO) -> Iterator[Portion]:
    """Yield the rows of an examined file in portions for one transaction each."""
    namespace, done, size = "", 0, 0
    section: Section | None = None
    rows: Rows = []
    for line in _lines(file):
        row = msgspec.json.decode(line, type=AnyRow)
        found = None if isinstance(row, HeaderRow | NamespaceRow | FooterRow) else _section(row)
        if section and rows and (found != section or len(rows) >= PORTION_ROWS or size >= _PORTION_BYTES):
            yield Portion(namespace, section, rows, done)
            rows, size = [], 0
        section = found
        if isinstance(row, NamespaceRow):
            namespace, done = row.namespace, 0
        elif not isinstance(row, HeaderRow | FooterRow):
            rows.append(_plain(row))
            done, size = done + 1, size + len(line)


def latest_schema() -> str:
    """Return the newest migration of this version."""
    return max((migration.version for migration in discover()), default="0000")


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """Yield the lines, decompressed if necessary, with their newlines. Raises InvalidExport."""
    file.seek(0)
    zipped = file.read(len(_GZIP_MAGIC)) == _GZIP_MAGIC
    file.seek(0)
    source = cast("BinaryIO", gzip.GzipFile(fileobj=file, mode="rb")) if zipped else file
    try:
        while line := _line(source, file):
            if not line.endswith(b"\n"):
                raise InvalidExport("the file ends in the middle of a line, or is not an export")
            yield line
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InvalidExport(
            f"the compressed file is damaged or truncated: {error}", remedy="Fetch or export it again."
        ) from None


def _line(source: BinaryIO, file: BinaryIO) -> bytes:
    """Return the next line, read in pieces, as a few bytes of `file` may expand to very many. Raises InvalidExport."""
    pieces, size = list[bytes](), 0
    while piece := source.readline(_PIECE_BYTES):
        pieces.append(piece)
        size += len(piece)
        if source.tell() > _UNPACKED_BYTES + _UNPACKED_RATIO * file.tell():
            raise InvalidExport(f"the file unpacks to more than {_UNPACKED_RATIO} times its size")
        if piece.endswith(b"\n") or size >= _LONGEST_LINE:
            break
    return b"".join(pieces)


class _Opening(msgspec.Struct):
    """The members of a header that every version has."""

    format: str
    version: int
    librarian: str = "unknown"
    schema: str = ""


def _header(line: bytes) -> HeaderRow:
    try:
        opening = msgspec.json.decode(line, type=_Opening)
    except _UNREADABLE:
        raise InvalidExport("the file is not a Librarian export: its first line is not a header") from None
    if opening.format != FORMAT:
        raise InvalidExport(f"the file is not a Librarian export: its format is {opening.format[:40]!r}")
    made = f"made by Librarian {opening.librarian[:20]}"
    if opening.version > VERSION or opening.schema > latest_schema():
        remedy = "Upgrade this Librarian to that version."
        raise InvalidExport(f"the file is newer than this version reads ({made})", remedy=remedy)
    if opening.version < VERSION:
        raise InvalidExport(
            f"the file has format {opening.version}, this version reads {VERSION} ({made})", remedy=_ANOTHER
        )
    row = _decoded(line, 1)
    if not isinstance(row, HeaderRow):
        raise InvalidExport("line 1 is not a header")
    return row


def _decoded(line: bytes, number: int) -> AnyRow:
    try:
        row: AnyRow = msgspec.json.decode(line, type=AnyRow)
    except _UNREADABLE as error:
        raise InvalidExport(f"line {number} is not a row of an export: {error}") from None
    return row


def _check_end(facts: ExportFacts, footer: FooterRow, counts: Counter[str], digest: str, rest: bytes | None) -> None:
    if rest is not None:
        raise InvalidExport("there is data after the end of the export")
    if footer.sha256 != digest or footer.rows != dict(counts):
        remedy = "It was changed or damaged after it was written: fetch or export it again."
        raise InvalidExport("the contents of the file do not match its footer", remedy=remedy)
    if len(facts.rows) != len(facts.header.namespaces):
        raise InvalidExport("a namespace that the header names is missing")


def _check(row: DataRow, number: int, header: HeaderRow) -> None:
    """Check that the row can be written: its values fit properties, and none belongs elsewhere."""
    own = _OWN[type(row)] | _RESERVED
    groups = [(row.properties, own)]
    if isinstance(row, ItemRow):
        groups += [(part, _RESERVED | {"uid"}) for part in row.citations] + [
            (part, _RESERVED) for part in row.revisions
        ]
        _check_vectors(row, number, header)
    elif isinstance(row, FileRow):
        groups += [(part, _RESERVED | {"path"}) for part in row.symbols]
    try:
        for properties, reserved in groups:
            if odd := properties.keys() & reserved:
                raise InvalidExport(f"line {number} holds {', '.join(sorted(odd))} among its properties")
            properties_from_json(properties)
    except ValueError as error:
        raise InvalidExport(f"line {number}: {error}") from None


def _check_vectors(row: ItemRow, number: int, header: HeaderRow) -> None:
    dimensions = {space.space: space.dimension for space in header.spaces}
    for part in row.vectors:
        try:
            numbers = len(vector_from_json(part.vector))
        except ValueError:
            numbers = -1
        if numbers != dimensions.get(part.space):
            raise InvalidExport(f"line {number} holds a vector of {numbers} numbers for the space {part.space[:80]!r}")
    if any(refusal.space not in dimensions for refusal in row.refused):
        raise InvalidExport(f"line {number} names an embedding space that the header does not")


def _section(row: DataRow) -> Section:
    return cast("Section", type(row).__struct_config__.tag)


def _plain(row: DataRow) -> dict[str, Any]:
    """Return the row as a dict, recursively."""
    fields = _fields(row)
    if isinstance(row, ItemRow):
        fields |= {
            "vectors": [_fields(part) for part in row.vectors],
            "refused": [_fields(part) for part in row.refused],
        }
    return fields


def _fields(struct: msgspec.Struct) -> dict[str, Any]:
    return {name: getattr(struct, name) for name in struct.__struct_fields__}
