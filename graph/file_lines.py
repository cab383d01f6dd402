"""Parts of files, and the lines in them."""

from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ChunkText:
    """A part of a file."""

    uid: str
    path: str
    start_line: int
    start_column: int
    text: str = field(repr=False)

    @property
    def end_line(self) -> int:
        """Its last line."""
        return self.start_line + self.text.count("\n")


@dataclass(frozen=True, slots=True)
class Lines:
    """A range of lines of a file, from 1, both ends included."""

    path: str
    first_line: int
    last_line: int


def lines_by_place(chunks: Iterable[ChunkText]) -> dict[tuple[str, int], str]:
    """Return the lines of parts of files by path and number; pieces of one line are joined in order."""
    lines: dict[tuple[str, int], str] = {}
    for chunk in chunks:
        if chunk.start_column:
            key = (chunk.path, chunk.start_line)
            lines[key] = lines.get(key, "")[: chunk.start_column] + chunk.text
            continue
        for number, line in enumerate(chunk.text.split("\n"), start=chunk.start_line):
            lines[chunk.path, number] = line
    return lines
