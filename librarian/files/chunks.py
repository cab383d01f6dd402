"""Files as parts: whole lines, cut at the start of a new unit, so that a small change leaves the other parts alone."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from graph.files import NewChunk
from retrieval.text import caption_of, has_cjk, identifier_parts

MAX_CHARS = 2_400
"""Per part. Smaller parts locate a match more exactly but cost more nodes."""

MAX_LINE_CHARS = 16_384
"""A longer line is cut into pieces of this size."""

OVERLAP = 1_024
"""Characters of the previous piece that the next one repeats: any searchable text is complete in one of them."""

_CAPTION = 60


@dataclass(frozen=True, slots=True)
class Part:
    """Lines `first` to `last`, from 1; for a very long line, the piece from `column` on."""

    first: int
    last: int
    column: int
    text: str


def chunks_of(namespace: str, path: str, lines: Sequence[str]) -> list[NewChunk]:
    """Return the parts of a file, ready to be stored. A part's uid depends on its text, not on its location."""
    seen: Counter[str] = Counter()
    made = []
    for part in parts(lines):
        seen[part.text] += 1
        made.append(_chunk(namespace, path, part, seen[part.text]))
    return made


def parts(lines: Sequence[str]) -> Iterator[Part]:
    """Yield the lines in parts of at most MAX_CHARS characters, in order; each line is in exactly one, or in pieces."""
    start = 0
    size = 0
    for number, line in enumerate(lines):
        if len(line) > MAX_CHARS:
            yield from _whole(lines, start, number)
            yield from _pieces(line, number + 1)
            start, size = number + 1, 0
            continue
        if size + len(line) + 1 > MAX_CHARS:
            cut = _cut(lines, start, number)
            yield from _whole(lines, start, cut)
            start, size = cut, sum(len(lines[i]) + 1 for i in range(cut, number))
        size += len(line) + 1
    yield from _whole(lines, start, len(lines))


def search_text_of(text: str) -> str:
    """Return the indexed text of a part: the text without case, then the words in its identifiers."""
    return "\n".join([text.casefold(), " ".join(identifier_parts(text))])


def _whole(lines: Sequence[str], start: int, end: int) -> Iterator[Part]:
    if start < end:
        yield Part(start + 1, end, 0, "\n".join(lines[start:end]))


def _pieces(line: str, number: int) -> Iterator[Part]:
    for column in range(0, max(1, len(line) - OVERLAP), MAX_LINE_CHARS - OVERLAP):
        yield Part(number, number, column, line[column : column + MAX_LINE_CHARS])


def _cut(lines: Sequence[str], start: int, end: int) -> int:
    """Return where the part from `start` ends, at most `end`.

    That is before the last line in its second half that starts a unit, otherwise after the last blank line there.
    """
    middle = (start + end) // 2 + 1
    for number in range(end, middle, -1):
        if not lines[number - 1].strip() and lines[number : number + 1] and _begins(lines[number]):
            return number
    return next((number for number in range(end, middle, -1) if not lines[number - 1].strip()), end)


def _begins(line: str) -> bool:
    """Return whether the line is flush left and starts a unit."""
    return line[:1] not in ("", " ", "\t", "}", ")", "]")


def _chunk(namespace: str, path: str, part: Part, occurrence: int) -> NewChunk:
    identity = "\0".join([namespace, path, str(occurrence), part.text])
    digest = hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:24]
    search_text = search_text_of(part.text)
    lines_named = f":{part.first}" if part.first == part.last else f":{part.first}-{part.last}"
    name = caption_of(path.rpartition("/")[2], _CAPTION - len(lines_named)) + lines_named
    return NewChunk(
        f"c-{digest}", name, part.first, part.last, part.column, part.text, search_text, has_cjk(search_text)
    )
