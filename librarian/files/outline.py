"""A file's topic in words: its path, the names it defines, and their documentation."""

import re
from collections.abc import Iterator, Sequence

from graph.files import NewSymbol
from retrieval.files import words_of

MAX_CHARS = 6_000
"""Per outline. Files that define thousands of names have no particular topic."""

_OPENING_LINES = 12
_SUMMARY_CHARS = 200
_DOCSTRING = re.compile(r"\s*[rRuU]?(?:\"\"\"|''')\s*(.*)")
_COMMENT = re.compile(r"\s*(?://+!?|/\*\*?|\*(?!/)|#+!?)\s*(.*)")
_NO_LETTERS = re.compile(r"[\W\d_]*")


def outline_of(path: str, lines: Sequence[str], symbols: Sequence[NewSymbol]) -> str:
    """Return the outline of a text with a blank before each word, at most MAX_CHARS long.

    It holds the words of its path, its opening, then each definition's words with the first line of its documentation.
    """
    pieces = [path, " ".join(_opening(lines)), *(_described(lines, symbol) for symbol in symbols)]
    words: dict[str, None] = {}
    for piece in pieces:
        words.update(dict.fromkeys(words_of(piece)))
    text = "".join(f" {word}" for word in words)
    return text if len(text) <= MAX_CHARS else text[:MAX_CHARS].rpartition(" ")[0]


def _described(lines: Sequence[str], symbol: NewSymbol) -> str:
    return f"{symbol.name} {next(_summaries(lines, symbol), '')}"


def _summaries(lines: Sequence[str], symbol: NewSymbol) -> Iterator[str]:
    """Yield the docstring's first line within the next lines, then the comment just above."""
    for number in range(symbol.line, min(symbol.line + 3, len(lines), symbol.end_line)):
        if found := _DOCSTRING.match(lines[number]):
            yield (found[1] or next(iter(lines[number + 1 : number + 2]), ""))[:_SUMMARY_CHARS]
            return
    if symbol.line >= 2 and (found := _COMMENT.match(lines[symbol.line - 2])):
        yield found[1][:_SUMMARY_CHARS]


def _opening(lines: Sequence[str]) -> Iterator[str]:
    """Yield the first non-empty lines of a file, if they are comments, a docstring or prose."""
    said = 0
    for line in lines[:_OPENING_LINES]:
        if _NO_LETTERS.fullmatch(line):
            if said:
                return
            continue
        said += 1
        yield line[:_SUMMARY_CHARS]
