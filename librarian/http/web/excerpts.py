"""The excerpt of a hit's text on a page: around the sentence that best matches the query, with its words marked."""

from dataclasses import dataclass
from itertools import pairwise

from retrieval.sentences import best_sentence, marks, terms

_MOST_CHARS = 420
_BEFORE = 120


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a text: whether it is a word of the query, and whether it belongs to the best sentence."""

    text: str
    word: bool
    answers: bool


def excerpt(text: str, query: str) -> list[Piece]:
    """Return the pieces of a text to show for a query: all of a short one, else the part around its best sentence."""
    wanted = terms(query)
    best = best_sentence(wanted, text) or (0, 0)
    start = 0 if len(text) <= _MOST_CHARS else max(0, min(best[0] - _BEFORE, len(text) - _MOST_CHARS))
    end = min(len(text), start + _MOST_CHARS)
    cuts = {start, end, *(at for at in best if start < at < end)}
    words = marks(wanted, text)
    cuts |= {at for word in words for at in word if start < at < end}
    edges = sorted(cuts)
    pieces = [
        Piece(
            text[at:until],
            word=any(first <= at < last for first, last in words),
            answers=best[0] <= at < best[1] and best[1] - best[0] < len(text.strip()),
        )
        for at, until in pairwise(edges)
    ]
    dots = Piece("…", word=False, answers=False)
    return [*([dots] if start else []), *pieces, *([dots] if end < len(text) else [])]
