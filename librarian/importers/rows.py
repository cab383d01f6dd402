"""From an importer's entries to the numbered lines that `Librarian.ingest` takes, and to the rest of its report."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator
from itertools import islice
from typing import Any, cast

import msgspec

from librarian import strictjson
from librarian.contracts.items import IngestReport, RowError, RowIn
from librarian.errors import InvalidInput
from librarian.importers.entries import Entry, Fault, Row, Skip
from retrieval.text import clean

_ROW = cast("type[RowIn]", RowIn)  # a union of classes decodes like one
_CHUNK_ROWS = 50
_MAX_REPORTED_ERRORS = 1000


class Rows:
    """One run over an importer's entries; iterate it once, then `complete` the report of the ingest.

    Every record has a number from 1. Rows that do not fit the contract are faults like those of the importer itself:
    their messages begin with the record's place in the source.
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
        """The same, read and parsed beside the event loop."""
        rows = iter(self)
        while chunk := await asyncio.to_thread(list, islice(rows, _CHUNK_ROWS)):
            for row in chunk:
                yield row

    def complete(self, report: IngestReport) -> None:
        """Add to the report of the ingest what it could not see: this run's faults, and notes on what was left out."""
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
    """`value` with texts that JSON can hold."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [_cleaned(element) for element in value]
    if isinstance(value, dict):
        return {name: _cleaned(element) for name, element in value.items()}
    return value
