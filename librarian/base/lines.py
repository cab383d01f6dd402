"""Numbered lines of a request body or a file, streamed: one line in memory at a time."""

from collections.abc import AsyncIterable, AsyncIterator

from librarian.base.errors import PayloadTooLarge

# Fits the longest allowed text, every character escaped to twelve bytes, and all other fields.
MAX_LINE_BYTES = 32 * 2**20
_BOM = b"\xef\xbb\xbf"


async def numbered_lines(
    chunks: AsyncIterable[bytes], *, max_line_bytes: int = MAX_LINE_BYTES
) -> AsyncIterator[tuple[int, bytes]]:
    """Yield each non-blank line with its number from 1. Raises PayloadTooLarge for a line that is too long."""
    number, parts, size = 1, list[bytes](), 0
    async for chunk in chunks:
        *ended, rest = chunk.split(b"\n")
        for piece in ended:
            line = _joined(number, [*parts, piece])
            if line:
                yield number, line
            number, parts, size = number + 1, [], 0
        parts.append(rest)
        size += len(rest)
        if size > max_line_bytes:
            raise PayloadTooLarge(f"line {number} is longer than {max_line_bytes} bytes", field=f"line {number}")
    if line := _joined(number, parts):
        yield number, line


def _joined(number: int, parts: list[bytes]) -> bytes:
    line = b"".join(parts).strip(b" \t\r")
    return line.removeprefix(_BOM) if number == 1 else line
