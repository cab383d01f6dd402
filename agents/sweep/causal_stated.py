"""Reads what one sentence says of two of its parts: "X because Y", "After Y, X", "X led to Y"."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

from agents.sweep.causal_cues import CueHit, find_cues
from agents.sweep.causal_types import Direction

_WORD = re.compile(r"\w+")
_SENTENCE_END = re.compile(r"[.!?](?=\s+[\"'“(*]*[A-Z0-9])|[。！？]|\n\s*\n")
# A cue at the head of the part it belongs to is still between the two: "… | to protest against the move".
_HEAD_WORDS = 1
# Words between an opening cue and the part it governs: "After *a long* night, …".
_OPENING_GAP = 2
_FAR = 10


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a text, from `start` to before `end`, in characters."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Statement:
    """A reading of two parts of one text: the cue, the direction between the parts, and what speaks for it.

    `gap` counts the words between the cue and the part behind it, `away` those to the other part, `words` the words of
    the shorter part.
    """

    hit: CueHit
    direction: Direction
    opening: bool
    gap: int
    away: int
    words: int

    def features(self) -> dict[str, float]:
        """What the head `stated` weighs."""
        return {
            f"cue {self.hit.cue.name}": 1.0,
            "weak": float(self.hit.cue.weak),
            "opening": float(self.opening),
            "gap": min(self.gap, _FAR) / _FAR,
            "away": min(self.away, _FAR) / _FAR,
            "clause": math.log1p(min(self.words, _FAR)) / math.log1p(_FAR),
            "weak single words": float(self.hit.cue.weak and self.words < 3),
        }


def locate(text: str, part: str) -> Span | None:
    """Where `part` stands in `text`, white space aside; None where it does not."""
    words = part.split()
    if not words:
        return None
    pattern = r"\s+".join(map(re.escape, words))
    # Whole words before any: "eat" is not in "great". Japanese has no borders to look for.
    found = re.search(rf"(?<!\w){pattern}(?!\w)", text) or re.search(pattern, text)
    return Span(found.start(), found.end()) if found else None


def statements(text: str, first: Span, second: Span) -> Iterator[Statement]:
    """Every reading of two parts of `text` that do not overlap and stand in one sentence."""
    before, behind = (first, second) if first.start <= second.start else (second, first)
    if before.end > behind.start or _SENTENCE_END.search(text, max(0, before.end - 1), behind.start + 1):
        return
    for hit in find_cues(text):
        if (read := _read(text, hit, before, behind)) is not None:
            yield read if before is first else _turned(read)


def _read(text: str, hit: CueHit, before: Span, behind: Span) -> Statement | None:
    words = min(_count(text, before.start, before.end), _count(text, behind.start, behind.end))
    if _between(text, hit, before, behind):
        direction = Direction.BACKWARD if hit.cue.cause_follows else Direction.FORWARD
        gap, away = _count(text, hit.end, behind.start), _count(text, before.end, hit.start)
        return Statement(hit, direction, opening=False, gap=gap, away=away, words=words)
    if hit.cue.opens and _opening(text, hit, before):
        direction = Direction.FORWARD if hit.cue.cause_follows else Direction.BACKWARD
        gap, away = _count(text, hit.end, before.start), _count(text, before.end, behind.start)
        return Statement(hit, direction, opening=True, gap=gap, away=away, words=words)
    return None


def _between(text: str, hit: CueHit, before: Span, behind: Span) -> bool:
    if hit.cue.ends:
        return hit.start >= behind.end - len(hit.words) and _count(text, behind.end, hit.start) == 0
    if before.start <= hit.start < before.end:
        return hit.end <= behind.start + 1 and _count(text, hit.end, before.end) == 0
    if hit.start < behind.start:
        return hit.start >= before.end - 1
    return hit.start < behind.end and _count(text, behind.start, hit.start) <= _HEAD_WORDS


def _opening(text: str, hit: CueHit, before: Span) -> bool:
    if hit.start >= before.start:
        return hit.end < before.end and _count(text, before.start, hit.start) == 0
    return hit.end <= before.start + 1 and _count(text, hit.end, before.start) <= _OPENING_GAP


def _turned(read: Statement) -> Statement:
    return Statement(read.hit, read.direction.turned(), read.opening, read.gap, read.away, read.words)


def _count(text: str, start: int, end: int) -> int:
    """Words between two places; nothing where they stand the other way round."""
    return len(_WORD.findall(text, start, end)) if start < end else 0
