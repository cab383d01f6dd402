"""An answer without a language model: the sentences of the best hits that share most with the question.

Pure functions. They quote, they do not conclude.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from retrieval.answerness import Answerable, is_question, overlap
from retrieval.thresholds import DEFAULT_FIXED, DEFAULT_MIN

H = TypeVar("H", bound=Answerable)

MAX_SENTENCES = 3
# Sentences come from so many hits at most: further down similarity tells little.
_HITS = 8
_MAX_SENTENCE_CHARS = 400
# How much of a sentence's worth its share of the question's words is, beside the worth of its hit (0..1).
_OVERLAP_WEIGHT = 0.5
# A sentence that asks repeats the words of the question, which must not count for it.
_QUESTION_PENALTY = _OVERLAP_WEIGHT
# A further sentence must be worth almost as much as the best.
_NEARLY = 0.8
_SENTENCE = re.compile(r"[^\s].*?(?:[.!?…]+(?=\s|$)|[。！？]+|(?=\n)|$)", re.DOTALL | re.MULTILINE)
_WORD = re.compile(r"\w")


@dataclass(frozen=True, slots=True)
class Extract:
    """A sentence of the hit at place `hit` (from 0); `worth` orders extracts of one question."""

    hit: int
    sentence: str
    worth: float


def supporting(hits: Sequence[H], query: str) -> list[H]:
    """The hits that may support an answer: similar enough, or with a word of the question."""
    return [hit for hit in hits if hit.score >= DEFAULT_MIN or overlap(query, hit.content) > 0]


def extracts(hits: Sequence[Answerable], query: str, most: int = MAX_SENTENCES) -> list[Extract]:
    """The best sentences of `hits` (best first) for `query`, the best first, at most one of a hit.

    None where no sentence shares a word with the question and no hit is very similar. Questions count less, and every
    sentence after the first must be worth nearly as much and share a word.
    """
    best = [found for place, hit in enumerate(hits[:_HITS]) if (found := _best_of(place, hit, query)) is not None]
    best.sort(key=lambda found: (-found.worth, found.hit))
    further = [one for one in best[1:] if one.worth >= best[0].worth * _NEARLY and overlap(query, one.sentence) > 0]
    return [*best[:1], *further][:most]


def _best_of(place: int, hit: Answerable, query: str) -> Extract | None:
    sentences = [found[0].strip() for found in _SENTENCE.finditer(hit.content)]
    rated = [(_worth(one, hit, query), -number, one) for number, one in enumerate(sentences) if _WORD.search(one)]
    rated = [one for one in rated if hit.score >= DEFAULT_FIXED or overlap(query, one[2]) > 0]
    if not rated:
        return None
    worth, _, sentence = max(rated)
    if len(sentence) > _MAX_SENTENCE_CHARS:
        sentence = sentence[: _MAX_SENTENCE_CHARS - 1].rstrip() + "…"
    return Extract(place, sentence, worth)


def _worth(sentence: str, hit: Answerable, query: str) -> float:
    asks = _QUESTION_PENALTY if is_question(sentence) else 0.0
    return hit.score + _OVERLAP_WEIGHT * overlap(query, sentence) - asks
