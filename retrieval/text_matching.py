"""Finds the lines of a text that match: exact substrings, whole words, any case, regular expressions without
backtracking.

Lines end at line feeds alone. Regular expressions are RE2's, whose time is linear in the text whatever the pattern.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from retrieval.regex_literals import required_literals

MAX_PATTERN_CHARS = 1_000
MIN_NEEDLE = 3
"""Each of several texts needs three letters, like the index's trigrams. A single one may be shorter: the database scans
its index for it, which takes 30 ms for 23 MB of source where reading all of it takes 400.
"""

MAX_STARS = 12
"""Per glob; a hostile one with more could take up the database's time."""

_MEMORY = 8 * 2**20
# Characters of a word, as in grep: letters of any script, marks, digits, connectors.
_INSIDE = r"\p{L}\p{M}\p{N}\p{Pc}"
_GLOB_PIECE = re.compile(r"\*\*/|/\*\*$|\*+|\?|\[!?\]?[^\]]*\]|\{|\}|,|.", re.DOTALL)

FindLines = Callable[[str], Iterator[tuple[int, int, int]]]


class InvalidPattern(ValueError):
    """A pattern that cannot be searched for; the message says why."""


@dataclass(frozen=True, slots=True)
class LineMatcher:
    """A compiled query.

    `lines` yields each matching line of a text once, in order: its number in that text, from 0, and where the first
    match starts and ends in the line. Every matching part contains one of `needles` (case-folded); none if an index
    cannot help.
    """

    lines: FindLines
    needles: tuple[str, ...]


def line_matcher(pattern: str, *, regex: bool = False, ignore_case: bool = False, word: bool = False) -> LineMatcher:
    """Compile a query. Raises InvalidPattern."""
    if not pattern:
        raise InvalidPattern("there is nothing to search for")
    if "\n" in pattern:
        raise InvalidPattern("it holds a line break; lines are searched one by one")
    if len(pattern) > MAX_PATTERN_CHARS:
        raise InvalidPattern(f"it is longer than {MAX_PATTERN_CHARS} characters")
    literals = required_literals(pattern) if regex else [pattern]
    needles = tuple(dict.fromkeys(text.casefold() for text in literals or ()))
    useful = needles if len(needles) == 1 or all(len(needle) >= MIN_NEEDLE for needle in needles) else ()
    if not (regex or ignore_case or word):
        return LineMatcher(_substring_lines(pattern), useful)
    return LineMatcher(_expression_lines(_compiled(pattern, regex, ignore_case, word)), useful)


def glob_expression(glob: str) -> str:
    """Return a glob over whole paths as a regular expression, in the syntax that Java, RE2 and Python share.

    `*` and `?` stay inside one folder, `**` crosses folders, `[a-z]` and `{a,b}` choose. A glob without a slash matches
    file names in every folder. Raises InvalidPattern.
    """
    if len(glob) > MAX_PATTERN_CHARS or glob.count("*") > MAX_STARS:
        raise InvalidPattern(f"a glob has at most {MAX_PATTERN_CHARS} characters and {MAX_STARS} stars")
    anchored = glob if "/" in glob else f"**/{glob}"
    depth = 0
    parts: list[str] = []
    for piece in _GLOB_PIECE.findall(anchored.removeprefix("/")):
        depth += {"{": 1, "}": -1}.get(piece, 0)
        if depth not in (0, 1):
            raise InvalidPattern("its braces do not match")
        parts.append(_glob_part(piece, inside=depth > 0))
    if depth:
        raise InvalidPattern("its braces do not match")
    return f"(?s){''.join(parts)}"


def _glob_part(piece: str, *, inside: bool) -> str:
    fixed = {"**/": "(?:.*/)?", "/**": "/.*", "?": "[^/]", "{": "(?:", "}": ")"}
    if piece in fixed:
        return fixed[piece]
    if piece == "," and inside:
        return "|"
    if piece.startswith("*"):
        return "[^/]*" if piece == "*" else ".*"
    if piece.startswith("[") and len(piece) > 2:
        negated = piece[1] == "!"
        chosen = re.sub(r"([\\\[&~|])", r"\\\1", piece[2:-1] if negated else piece[1:-1])
        return f"[{'^/' if negated else ''}{chosen}]"
    return re.escape(piece)


def _substring_lines(needle: str) -> FindLines:
    def lines(text: str) -> Iterator[tuple[int, int, int]]:
        number = counted = 0
        at = text.find(needle)
        while at >= 0:
            number += text.count("\n", counted, at)
            start = text.rfind("\n", 0, at) + 1
            yield number, at - start, at - start + len(needle)
            end = text.find("\n", at)
            if end < 0:
                return
            number, counted = number + 1, end + 1
            at = text.find(needle, counted)

    return lines


def _expression_lines(expression: Any) -> FindLines:
    def lines(text: str) -> Iterator[tuple[int, int, int]]:
        data = text.encode()
        number = counted = 0
        past = -1
        for match in expression.finditer(data):
            first, last = match.span(1)
            # An empty match at the very end of a text that ends a line is on that line.
            if first <= past:
                continue
            number += data.count(b"\n", counted, first)
            start = data.rfind(b"\n", 0, first) + 1
            end = data.find(b"\n", first)
            past = len(data) if end < 0 else end
            counted = first
            yield number, _characters(data, start, first), _characters(data, start, min(last, past))
            if end < 0:
                return

    return lines


def _characters(data: bytes, start: int, end: int) -> int:
    return len(data[start:end].decode())


def _compiled(pattern: str, regex: bool, ignore_case: bool, word: bool) -> Any:  # noqa: FBT001 - as the query has them
    import re2

    options = re2.Options()
    options.never_nl = True
    options.log_errors = False
    options.max_mem = _MEMORY
    inner = pattern if regex else re2.escape(pattern)
    flags = "mi" if ignore_case else "m"
    try:
        re2.compile(inner, options)  # alone first: a stray parenthesis must not close ours
        if word:
            inner = f"(?:^|[^{_INSIDE}])({inner})(?:$|[^{_INSIDE}])"
        return re2.compile(f"(?{flags}){inner}" if word else f"(?{flags})({inner})", options)
    except re2.error as error:
        raise InvalidPattern(f"no regular expression of RE2: {_error_text(error)}") from None


def _error_text(error: Exception) -> str:
    message = error.args[0] if error.args else "it cannot be read"
    return message.decode("utf-8", "replace") if isinstance(message, bytes) else str(message)


def cut_around(line: str, start: int, end: int, width: int) -> str:
    """Return the line or, if it is longer than `width`, the part around the match at start..end, with … where it is
    cut.
    """
    if len(line) <= width:
        return line
    room = max(0, width - (end - start))
    first = max(0, min(start - room // 2, len(line) - width))
    last = min(len(line), first + width)
    return f"{'…' if first else ''}{line[first:last]}{'…' if last < len(line) else ''}"
