"""Markdown as movable units: sentences of prose, and blocks that only make sense in one piece. Pure.

It parses only the boundaries of units, and drops nothing but white space around units.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto

_LABEL = (
    r"[ \t]*(?:[-*+>•][ \t]+|\d{1,3}[.)][ \t]+)?(?:\*\*)?([^\W\d_][^\n:：*|`.]{0,30}?)(?:\*\*)?[:：](?:\*\*)?(?![/:\d])"
)
_OPENING = re.compile(_LABEL)
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]|$)")
_ITEM = re.compile(r"([ \t]*)(?:[-*+•]|\d{1,3}[.)])[ \t]")
_INDENTED = re.compile(r" {4}|\t")
_WHOLE = re.compile(r"`[^`\n]+`|\[[^\]\n]{0,500}\]\([^)\s]{0,2000}\)|https?://\S+")
# A mark ends a sentence if followed by white space and no lower-case letter; the full-width ones always do.
_CLOSE = re.compile(
    r"""[.!?…]+ ["'”’)\]*_`]* \s+ (?= ["'“‘(\[*_`@$~–—\#-]* [^\Wa-z_] ) | [。！？]+ [」』）”’*]* \s* (?=\S)""",
    re.VERBOSE,
)
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|cf|vs|approx|no|fig|st|dr|mr|mrs|ms|incl)|\b[A-Z])\.\s+$", re.IGNORECASE
)
_LABELLED_LINE = re.compile(rf"\n(?={_LABEL})")
_LONGEST_ABBREVIATION = 12
# Text that would not be prose at the start of a line.
_BLOCK_MARK = re.compile(r"[ \t]*(?:`{3}|~{3}|#{1,6}(?:\s|$)|[-*+•][ \t]|\d{1,3}[.)][ \t]|[|<>])")


class Form(Enum):
    """The form of a unit; a block is code, a table, a quotation or markup."""

    SENTENCE = auto()
    HEADING = auto()
    ITEM = auto()
    BLOCK = auto()


@dataclass(frozen=True, slots=True)
class Unit:
    """One piece of a text; `before` is the white space between it and the previous unit."""

    form: Form
    text: str
    before: str

    @property
    def label(self) -> str | None:
        """Its label, in lower case: "fix" of "- **Fix:** restart it"."""
        return label_of(self.text)


def label_of(text: str) -> str | None:
    """Return the label at the start of `text`, in lower case."""
    found = _OPENING.match(text)
    return found[1].strip().casefold() if found else None


def units(text: str) -> list[Unit]:
    """Return the units of `text`, in order. Takes time proportional to its length."""
    found: list[Unit] = []
    end = 0
    for form, start, stop in _spans(text):
        piece = text[start:stop]
        if not piece.strip():
            continue
        # Indentation at the start of a block is part of it.
        kept = piece.strip("\r\n") if form in (Form.BLOCK, Form.ITEM) else piece.strip()
        at = start + piece.index(kept)
        kept = kept.rstrip()
        found.append(Unit(form, kept, text[end:at]))
        end = at + len(kept)
    return found


def open_fence(text: str) -> str | None:
    """Return the marks that would close a code block at the end of `text`; None if it does not end in one."""
    lines = text.splitlines()
    for first, end in _fences(lines):
        fence = _marks(lines[first])
        if end == len(lines) and (end == first + 1 or not _closes(lines[-1], fence)):
            return fence
    return None


def parted(text: str) -> Iterator[tuple[bool, str]]:
    """Yield the text in order as contents of fenced blocks (True) and the rest with their opening lines (False)."""
    lines = text.splitlines(keepends=True)
    at = 0
    for first, end in _fences(lines):
        yield False, "".join(lines[at : first + 1])
        closed = end > first + 1 and _closes(lines[end - 1], _marks(lines[first]))
        yield True, "".join(lines[first + 1 : end - closed])
        at = end
    yield False, "".join(lines[at:])


def _spans(text: str) -> Iterator[tuple[Form, int, int]]:
    for form, start, stop in _blocks(text.splitlines(keepends=True)):
        if form is Form.SENTENCE:
            yield from ((form, *span) for span in _sentences(text, start, stop))
        else:
            yield form, start, stop


def _blocks(lines: list[str]) -> Iterator[tuple[Form, int, int]]:
    """Yield runs of lines that belong together, as offsets into the text."""
    number = at = 0
    while number < len(lines):
        form, end = _block(lines, number)
        length = sum(len(line) for line in lines[number:end])
        yield form, at, at + length
        number, at = end, at + length


def _block(lines: list[str], first: int) -> tuple[Form, int]:
    """Return the form of the block that begins at line `first`, and the line after it."""
    line = lines[first]
    if _FENCE.match(line):
        return Form.BLOCK, _behind_fence(lines, first)
    if _HEADING.match(line):
        return Form.HEADING, first + 1
    if item := _ITEM.match(line):
        return Form.ITEM, _behind_item(lines, first, len(item[1]))
    if line.lstrip().startswith(("|", "<", ">")):
        return Form.BLOCK, _behind(lines, first, _is_filled)
    if _INDENTED.match(line) and line.strip() and (first == 0 or not lines[first - 1].strip()):
        return Form.BLOCK, _behind(lines, first, lambda one: bool(_INDENTED.match(one) and one.strip()))
    return Form.SENTENCE, _behind(lines, first, _is_prose)


def _behind(lines: list[str], first: int, belongs: Callable[[str], bool]) -> int:
    number = first + 1
    while number < len(lines) and belongs(lines[number]):
        number += 1
    return number


def _fences(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the first line of each fenced block and the line after it."""
    number = 0
    while number < len(lines):
        first, number = number, number + 1
        if _FENCE.match(lines[first]):
            number = _behind_fence(lines, first)
            yield first, number


def _behind_fence(lines: Sequence[str], first: int) -> int:
    """Return the line after a fenced block; an unclosed fence runs to the end."""
    fence = _marks(lines[first])
    for number in range(first + 1, len(lines)):
        if _closes(lines[number], fence):
            return number + 1
    return len(lines)


def _marks(line: str) -> str:
    fence = _FENCE.match(line)
    return fence[1] if fence else ""


def _closes(line: str, fence: str) -> bool:
    stripped = line.strip()
    return stripped.startswith(fence) and not stripped.strip(fence[0])


def _behind_item(lines: list[str], first: int, indent: int) -> int:
    """Return the line after a list item and everything indented below it."""
    number = first + 1
    while number < len(lines) and lines[number].strip():
        if _FENCE.match(lines[number]):
            number = _behind_fence(lines, number)
            continue
        nested = _ITEM.match(lines[number])
        if _HEADING.match(lines[number]) or (nested and len(nested[1]) <= indent):
            break
        number += 1
    return number


def _is_filled(line: str) -> bool:
    return bool(line.strip()) and not (_FENCE.match(line) or _HEADING.match(line))


def _is_prose(line: str) -> bool:
    return _is_filled(line) and not (_ITEM.match(line) or line.lstrip().startswith(("|", "<", ">")))


def _sentences(text: str, start: int, stop: int) -> Iterator[tuple[int, int]]:
    """Yield sentences between two offsets; never cut within inline code, a link or after an abbreviation."""
    whole = [found.span() for found in _WHOLE.finditer(text, start, stop)]
    ends = {found.end() for found in _CLOSE.finditer(text, start, stop) if not _abbreviated(text, found)}
    ends |= {found.end() for found in _LABELLED_LINE.finditer(text, start, stop)}
    inside = iter(whole)
    current = next(inside, None)
    for end in sorted(ends):
        while current and current[1] < end:
            current = next(inside, None)
        if not (current and current[0] < end < current[1]) and not _BLOCK_MARK.match(text, end):
            yield start, end
            start = end
    yield start, stop


def _abbreviated(text: str, close: re.Match[str]) -> bool:
    return bool(_ABBREVIATION.search(text, max(0, close.start() - _LONGEST_ABBREVIATION), close.end()))
