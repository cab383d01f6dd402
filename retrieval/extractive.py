"""An answer without a language model: what the best hits say, quoted. Pure functions.

They quote, they do not conclude: the best hit, or for a question that wants all there is every hit that is nearly as
good. What repeats the question, says that nobody knows, or gives orders is never quoted.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from retrieval.answering import Verdict, asks_for_all, sentences_of
from retrieval.text import has_cjk

MAX_QUOTED = 8
"""Hits quoted at most, where all are asked for."""

LEAST_SUPPORT = 0.55
LEAST_SUPPORT_UNREAD = 0.4
"""How well the question's own words and meaning have to back a hit that answers (0..1), where the question is in a
language without similarity words alone.
"""

_NEARLY = 0.8
_WHOLE_CHARS = 320
_MAX_SENTENCE_CHARS = 400
_TELLS = frozenset({Verdict.ANSWERS.value, Verdict.SHARES_TOPIC.value})


class Answering(Protocol):
    """A hit as far as an answer made of quotations goes."""

    @property
    def content(self) -> str:
        """Its text."""

    @property
    def verdict(self) -> str | None:
        """What it does with the question (retrieval.answering.Verdict)."""

    @property
    def support(self) -> float | None:
        """How well the question backs it (0..1)."""

    @property
    def relevance(self) -> float | None:
        """How well it answers, beside the other hits (0..1)."""

    @property
    def passage(self) -> str | None:
        """Its sentence that answers best."""


H = TypeVar("H", bound=Answering)


@dataclass(frozen=True, slots=True)
class Extract:
    """What the hit at index `hit` (from 0) says that answers."""

    hit: int
    text: str


def supporting(hits: Sequence[H], query: str) -> list[H]:
    """Return the hits that may support an answer, in their order; none where the best is not backed well enough."""
    telling = [hit for hit in hits if hit.verdict is None or hit.verdict in _TELLS]
    least = LEAST_SUPPORT_UNREAD if has_cjk(query) else LEAST_SUPPORT
    backed = [hit for hit in telling if (hit.support or 0.0) >= least]
    return backed if backed and backed[0] in telling[:3] else []


def extracts(hits: Sequence[Answering], query: str) -> list[Extract]:
    """Return what the best of `hits` (best first) say to `query`, at most one extract a hit."""
    if not hits:
        return []
    best = hits[0].relevance or 0.0
    wanted = MAX_QUOTED if asks_for_all(query) else 1
    nearly = [index for index, hit in enumerate(hits) if (hit.relevance or 0.0) >= _NEARLY * best]
    return [Extract(index, _said(hits[index])) for index in (nearly or [0])[:wanted]]


def _said(hit: Answering) -> str:
    """A short text as a whole, of a longer one the sentence that answers best and the next."""
    text = hit.content.strip()
    if len(text) <= _WHOLE_CHARS or not hit.passage:
        return _cut(" ".join(text.split()))
    sentences = sentences_of(hit.content)
    at = sentences.index(hit.passage) if hit.passage in sentences else 0
    return _cut(" ".join(sentences[at : at + 2]))


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_SENTENCE_CHARS else text[: _MAX_SENTENCE_CHARS - 1].rstrip() + "…"
