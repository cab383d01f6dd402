"""The formats by name, their detection, and the rows of a source."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, cast

import msgspec

from librarian.base import strictjson
from librarian.base.errors import InvalidInput
from librarian.items.contracts import IngestReport, RowError, RowIn
from librarian.items.importers import (
    chatgpt,
    claude,
    graphiti,
    langmem,
    letta,
    markdown,
    mcp_memory,
    mem0,
    slack,
)
from librarian.items.importers.entries import Entry, Fault, Row, Skip
from librarian.items.importers.source import Source, from_bytes
from retrieval.text import clean

_ROW = cast("type[RowIn]", RowIn)  # a union of classes decodes like one
_CHUNK_ROWS = 50
_MAX_REPORTED_ERRORS = 1000


class Rows:
    """One pass over an importer's entries; iterate it once, then `complete` the report of the ingest.

    Records are numbered from 1. Rows that violate the contract are faults like the importer's own: their messages begin
    with the record's position in the source.
    """

    def __init__(self, entries: Iterable[Entry], name: str) -> None:
        self.read = 0
        self._entries = entries
        self._name = name
        self._failed = 0
        self._errors: list[RowError] = []
        self._notes: Counter[str] = Counter()

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        """(number, row as JSON)."""
        for entry in self._entries:
            if isinstance(entry, Skip):
                self._notes[entry.reason] += 1
                continue
            self.read += 1
            line = self._line(entry)
            if line is not None:
                yield self.read, line

    async def lines(self) -> AsyncIterator[tuple[int, bytes]]:
        """Yield the lines, read and parsed off the event loop."""
        rows = iter(self)
        while chunk := await asyncio.to_thread(list, islice(rows, _CHUNK_ROWS)):
            for row in chunk:
                yield row

    def complete(self, report: IngestReport) -> None:
        """Add this run's faults, and notes on skipped records, to the report of the ingest."""
        report.failed += self._failed
        report.errors = sorted([*report.errors, *self._errors], key=lambda error: error.line)[:_MAX_REPORTED_ERRORS]
        report.notes += [f"{reason}: {count}" for reason, count in self._notes.items()]
        if not self.read and not self._notes:
            report.notes.append(f"Nothing to import was found in {self._name}")

    def _line(self, entry: Row | Fault) -> bytes | None:
        if isinstance(entry, Fault):
            self._fail("$", entry.where, entry.message)
            return None
        try:
            row = strictjson.convert(_cleaned(entry.values), _ROW)
        except InvalidInput as fault:
            self._fail(fault.field or "$", entry.where, str(fault))
            return None
        self._notes.update(entry.remarks)
        return msgspec.json.encode(row)

    def _fail(self, field: str, where: str, message: str) -> None:
        self._failed += 1
        if len(self._errors) < _MAX_REPORTED_ERRORS:
            text = clean(f"{where}: {message}")
            self._errors.append(RowError(line=self.read, field=field, code=InvalidInput.code, message=text))


def _cleaned(value: Any) -> Any:
    """Return `value` with texts that JSON can represent."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [_cleaned(element) for element in value]
    if isinstance(value, dict):
        return {name: _cleaned(element) for name, element in value.items()}
    return value


AUTO = "auto"
MAX_UPLOAD_TOTAL_BYTES = 256 * 2**20
MAX_UPLOAD_MEMBERS = 50_000


@dataclass(frozen=True, slots=True)
class Importer:
    """One format. `recognises` is cheap and true only if no other format is possible."""

    entries: Callable[[Source], Iterator[Entry]]
    recognises: Callable[[Source], bool]


# Exports with distinctive files come before notes, which any folder may hold.
FORMATS: Mapping[str, Importer] = {
    "slack": Importer(slack.entries, slack.recognises),
    "chatgpt": Importer(chatgpt.entries, chatgpt.recognises),
    "claude": Importer(claude.entries, claude.recognises),
    "graphiti": Importer(graphiti.entries, graphiti.recognises),
    "letta": Importer(letta.entries, letta.recognises),
    "langmem": Importer(langmem.entries, langmem.recognises),
    "mcp-memory": Importer(mcp_memory.entries, mcp_memory.recognises),
    "mem0": Importer(mem0.entries, mem0.recognises),
    "markdown": Importer(markdown.entries, markdown.recognises),
}


def detect(source: Source) -> str | None:
    """Return the format of `source`; None for an unknown one, or plain rows."""
    return next((name for name, importer in FORMATS.items() if importer.recognises(source)), None)


def rows(format_name: str, source: Source) -> Rows:
    """Return the rows of `source`. Raises InvalidInput for an unknown format, or a source without any of it."""
    if format_name == AUTO:
        format_name = _detected(source)
    if format_name not in FORMATS:
        raise InvalidInput(f"no importer {format_name!r}", remedy=f"one of {', '.join(sorted(FORMATS))}, {AUTO}")
    return Rows(FORMATS[format_name].entries(source), source.name)


def rows_of(
    format_name: str,
    content: bytes,
    filename: str,
    *,
    max_total_bytes: int = MAX_UPLOAD_TOTAL_BYTES,
    max_members: int = MAX_UPLOAD_MEMBERS,
) -> Rows:
    """Return the rows of an uploaded file or zip archive, which stays in memory.

    Pass `.lines()` to `Librarian.ingest` and its report to `.complete()`. Raises InvalidInput or PayloadTooLarge for an
    unknown format and an archive that is damaged, encrypted, too large when unpacked or has names that lead out of it.
    Decoded JSON takes up to 20 times its bytes, so `max_total_bytes` bounds the memory of one request.
    """
    limits = {"max_total_bytes": max_total_bytes, "max_members": max_members}
    return rows(format_name, from_bytes(content, filename, **limits))


def _detected(source: Source) -> str:
    found = detect(source)
    if found is None:
        raise InvalidInput(
            f"{source.name} has none of the recognised formats: {', '.join(sorted(FORMATS))}",
            remedy="Name the format if it is one of them; rows in Librarian's own form are JSON Lines.",
        )
    return found
