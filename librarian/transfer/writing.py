"""Writes an export: lines, their counts and checksum, optionally gzipped."""

import hashlib
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO

import msgspec

from librarian.transfer.contracts import ROWS, FooterRow, HeaderRow, NamespaceRow

# Half the time of the default 6 for a tenth more bytes (measured on 100,000 items with vectors).
_GZIP_LEVEL = 3
# The largest window, in a gzip file whose header holds neither name nor time.
_GZIP_BITS = 31


class ExportWriter:
    """Writes one export to a seekable file. The same rows give the same bytes: the file holds no time of its own."""

    def __init__(self, file: BinaryIO, *, compress: bool) -> None:
        self._file = file
        self._compress = compress
        self._encoder = msgspec.json.Encoder()
        self._begin()

    def restart(self) -> None:
        """Start over, discarding what was written."""
        self._file.seek(0)
        self._file.truncate()
        self._begin()

    def head(self, row: HeaderRow | NamespaceRow) -> None:
        """Write the header, or the line that begins a namespace."""
        self._write(self._encoder.encode(row) + b"\n")

    def rows(self, section: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Write rows of one kind."""
        if not rows:
            return
        struct = ROWS[section]
        self._write(b"".join(self._encoder.encode(struct(**row)) + b"\n" for row in rows))
        self.counts[section] += len(rows)

    def finish(self) -> FooterRow:
        """Write the footer, after which nothing may follow."""
        footer = FooterRow(rows=dict(sorted(self.counts.items())), sha256=self._sha256.hexdigest())
        self._put(self._encoder.encode(footer) + b"\n")
        if self._zipper is not None:
            self._file.write(self._zipper.flush())
        return footer

    def _begin(self) -> None:
        self.counts: Counter[str] = Counter()
        self._sha256 = hashlib.sha256()
        self._zipper = zlib.compressobj(_GZIP_LEVEL, wbits=_GZIP_BITS) if self._compress else None

    def _write(self, lines: bytes) -> None:
        self._sha256.update(lines)
        self._put(lines)

    def _put(self, lines: bytes) -> None:
        self._file.write(lines if self._zipper is None else self._zipper.compress(lines))
