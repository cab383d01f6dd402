"""Texts that every match of a regular expression holds, so that an index finds where a match is possible at all.

Reads the syntax of RE2. What it does not understand it takes as anything, so that its answer is never too narrow.
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
    """Texts of which every match holds one, at most 8, with the case of the pattern; None when there are none.

    A pattern that RE2 refuses may give anything.
    """
    found = _Reader(pattern).alternatives()
    if found is None or len(found) > MAX_LITERALS:
        return None
    return sorted(found)


class _Reader:
    """Walks over a pattern once. A result is the set of texts of which a match holds one; None: nothing is sure."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0

    def alternatives(self) -> set[str] | None:
        """Of `a|b|…` up to the end of the pattern or group: what every branch gives."""
        found = self._sequence()
        while self._pattern[self._at : self._at + 1] == "|":
            self._at += 1
            other = self._sequence()
            found = None if found is None or other is None else found | other
        return found

    def _sequence(self) -> set[str] | None:
        """Of pieces one after another: the best among runs of plain characters and groups that must be there."""
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
        """One piece: its text where it is plain (an assertion is the empty text), or what a group gives."""
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
        """How often the piece before has to come, at least and at most (None: any number)."""
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
    """The one whose shortest text is longer: it rules out more; of equals the one with fewer texts."""
    if best is None or other is None:
        return other if best is None else best
    return max(best, other, key=lambda found: (min(map(len, found)), -len(found)))
