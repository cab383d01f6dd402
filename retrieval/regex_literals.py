"""Texts that every match of a regular expression contains, so that an index can find where a match is possible.

Reads the syntax of RE2. Whatever it does not understand counts as anything, so that its result is never too narrow.
"""

import re

MAX_LITERALS = 8

_REPEAT = re.compile(r"[*+?]\??|\{(\d*)(?:,(\d*))?\}\??")
_GROUP = re.compile(r"\?(?:P?<\w+>|[imsU]*(?:-[imsU]+)?(?::|(?=\))))")
_CLASS = re.compile(r"\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]", re.DOTALL)
_ESCAPE = re.compile(
    r"\\(?:Q.*?(?:\\E|\Z)|x\{[0-9A-Fa-f]+\}|x[0-9A-Fa-f]{2}|[0-7]{1,3}|p\{[^}]*\}|P\{[^}]*\}|[pP].|.)", re.DOTALL
)
_CONTROL = {"a": "\a", "f": "\f", "t": "\t", "n": "\n", "r": "\r", "v": "\v"}


def required_literals(pattern: str) -> list[str] | None:
    """Return at most 8 texts, in the pattern's case, of which every match contains one; None if there are none.

    For a pattern that RE2 refuses the result is arbitrary.
    """
    found = _Reader(pattern).alternatives()
    if found is None or len(found) > MAX_LITERALS:
        return None
    return sorted(found)


class _Reader:
    """Walks over a pattern once. A result is a set of texts of which a match contains one; None: nothing is sure."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0

    def alternatives(self) -> set[str] | None:
        """Return the texts for `a|b|…` up to the end of the pattern or group: those of every branch."""
        found = self._sequence()
        while self._pattern[self._at : self._at + 1] == "|":
            self._at += 1
            other = self._sequence()
            found = None if found is None or other is None else found | other
        return found

    def _sequence(self) -> set[str] | None:
        """Return the texts for consecutive pieces: the best among required runs of plain characters and groups."""
        best: set[str] | None = None
        run = ""
        while self._at < len(self._pattern) and self._pattern[self._at] not in "|)":
            text, group = self._piece()
            low, high = self._repeat()
            plain = text if low else None
            run, ended = (run + plain, "") if plain is not None and low == high == 1 else ("", run)
            best = _better(best, {ended} if ended else None)
            if plain and low and not (low == high == 1):
                best = _better(best, {plain})
            if low and group is not None:
                best = _better(best, group)
        return _better(best, {run} if run else None)

    def _piece(self) -> tuple[str | None, set[str] | None]:
        """Return one piece: its text if it is plain (an assertion is the empty text), or the texts of a group."""
        char = self._pattern[self._at]
        if char == "(":
            return self._group()
        if char == "[":
            match = _CLASS.match(self._pattern, self._at)
            self._at = match.end() if match else len(self._pattern)
            return None, None
        if char == "\\":
            return self._escape(), None
        self._at += 1
        if char == ".":
            return None, None
        return ("" if char in "^$" else char), None

    def _group(self) -> tuple[str | None, set[str] | None]:
        self._at += 1
        if match := _GROUP.match(self._pattern, self._at):
            self._at = match.end()
        found = self.alternatives()
        self._at += 1
        return None, found

    def _escape(self) -> str | None:
        match = _ESCAPE.match(self._pattern, self._at)
        if match is None:
            self._at = len(self._pattern)
            return None
        self._at = match.end()
        body = match[0][1:]
        if body[0] == "Q":
            return body[1:].removesuffix("\\E")
        if body in ("b", "B", "A", "z"):
            return ""
        if body in _CONTROL:
            return _CONTROL[body]
        return body if len(body) == 1 and not body.isalnum() else None

    def _repeat(self) -> tuple[int, int | None]:
        """Return how often the preceding piece must occur, at least and at most (None: any number)."""
        low, high = 1, 1
        most: int | None = high
        while match := _REPEAT.match(self._pattern, self._at):
            if match[0][0] == "{" and not match[1]:
                break
            self._at = match.end()
            least, upper = _bounds(match)
            low, most = low * least, None if most is None or upper is None else most * upper
        return low, most


def _bounds(match: re.Match[str]) -> tuple[int, int | None]:
    sign = match[0][0]
    if sign == "{":
        least = int(match[1])
        return least, least if match[2] is None else int(match[2]) if match[2] else None
    return (0 if sign in "*?" else 1), (1 if sign == "?" else None)


def _better(best: set[str] | None, other: set[str] | None) -> set[str] | None:
    """Return the set whose shortest text is longer, since it rules out more; of equals the one with fewer texts."""
    if best is None or other is None:
        return other if best is None else best
    return max(best, other, key=lambda found: (min(map(len, found)), -len(found)))
