"""Rows as the lines of an NDJSON stream."""

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

import msgspec

from librarian.base.errors import InvalidInput

Row: TypeAlias = tuple[int, bytes] | Mapping[str, Any]
Rows: TypeAlias = Iterable[Row] | AsyncIterable[Row]

# Sends many small rows in one write.
CHUNK_BYTES = 64 * 1024


class _Lines:
    """Gathers rows into chunks. A numbered row is put on the line of that number, so that the service's report names
    the caller's lines.
    """

    def __init__(self) -> None:
        self._line = 0
        self._chunk = bytearray()

    def add(self, row: Row) -> None:
        """Put a row on its line. Raises InvalidInput for a row of several lines, or one whose line has passed."""
        number, text = row if isinstance(row, tuple) else (self._line + 1, msgspec.json.encode(row))
        if number <= self._line:
            raise InvalidInput(f"row {number} comes after row {self._line}", field="rows")
        if b"\n" in text.strip():
            raise InvalidInput(f"row {number} is more than one line", field="rows")
        self._chunk += b"\n" * (number - self._line - 1) + text.strip() + b"\n"
        self._line = number

    @property
    def full(self) -> bool:
        """Whether the chunk is large enough to send."""
        return len(self._chunk) >= CHUNK_BYTES

    def taken(self) -> bytes:
        """Return the chunk and begin the next one."""
        chunk = bytes(self._chunk)
        self._chunk.clear()
        return chunk


def ndjson(rows: Rows) -> Iterator[bytes]:
    """Yield the rows as chunks. Raises InvalidInput."""
    if not isinstance(rows, Iterable):
        raise InvalidInput("an asynchronous source of rows needs the asynchronous client", field="rows")
    lines = _Lines()
    for row in rows:
        lines.add(row)
        if lines.full:
            yield lines.taken()
    yield lines.taken()


async def async_ndjson(rows: Rows) -> AsyncIterator[bytes]:
    """Yield the rows of a synchronous or asynchronous source as chunks."""
    lines = _Lines()
    async for row in _each(rows):
        lines.add(row)
        if lines.full:
            yield lines.taken()
    yield lines.taken()


async def _each(rows: Rows) -> AsyncIterator[Row]:
    if isinstance(rows, AsyncIterable):
        async for row in rows:
            yield row
    else:
        for row in rows:
            yield row
