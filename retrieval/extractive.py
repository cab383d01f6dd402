"""An answer without a language model: what the best hits say, quoted. Pure functions.

They quote, they do not conclude: the best hit, or for a question that wants all there is every hit that is nearly as
good. What repeats the question, says that nobody knows, or gives orders is never quoted; what was replaced gives way to
its replacement, and a question of what is not so to the hit that says so.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol, TypeVar

from retrieval import cues
from retrieval.answering import Question, Verdict, asks_for_all, question, sentences_of
from retrieval.excerpts import excerpt
from retrieval.text import has_cjk
from retrieval.times import spans

MAX_QUOTED = 8
"""Hits quoted at most, where all are asked for."""

LEAST_SUPPORT = 0.55
LEAST_SUPPORT_UNREAD = 0.4
"""How well the question's own words and meaning have to back a hit that answers (0..1), where the question is in a
language without similarity words alone.
"""

_NEARLY = 0.7
_WHOLE_CHARS = 320
_MAX_CHARS = 400
_TELLS = frozenset({Verdict.ANSWERS.value, Verdict.SHARES_TOPIC.value})
# Words that mean another day with every day on which they are said.
_RELATIVE = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|ago|last|next|this|previous|coming)\b"
    "|昨日|昨夜|一昨日|おととい|今日|本日|明日|明後日|[先今来][週月]|[去昨今来]年|(?:日|週間?|か月|ヶ月|年)前"
)


class Answering(Protocol):
    """A hit as far as an answer made of quotations goes."""

    @property
    def uid(self) -> str:
        """Its uid."""

    @property
    def content(self) -> str:
        """Its text."""

    @property
    def sent_at(self) -> datetime | None:
        """When it was said, or began to hold."""

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
    def rerank_score(self) -> float | None:
        """What a reranker thinks of it (0..1)."""

    @property
    def superseded_by(self) -> str | None:
        """The uid of a later statement about the same."""

    @property
    def passage(self) -> str | None:
        """Its sentence that answers best."""


H = TypeVar("H", bound=Answering)


@dataclass(frozen=True, slots=True)
class Extract:
    """What the hit at index `hit` (from 0) says that answers; `times` are its words such as "yesterday", with the days
    that they mean.
    """

    hit: int
    text: str
    times: Sequence[str] = field(default=())


def supporting(hits: Sequence[H], query: str) -> list[H]:
    """Return the hits that may support an answer, in their order; none where the best is not backed well enough."""
    telling = [hit for hit in hits if hit.verdict is None or hit.verdict in _TELLS]
    least = LEAST_SUPPORT_UNREAD if has_cjk(query) else LEAST_SUPPORT
    backed = [hit for hit in telling if (hit.support or 0.0) >= least]
    return backed if backed and backed[0] in telling[:3] else []


def extracts(hits: Sequence[Answering], query: str, now: datetime) -> list[Extract]:
    """Return what the best of `hits` (best first) say to `query`, asked at `now`: at most one extract a hit."""
    if not hits:
        return []
    asked = question(query, now)
    nearly = [index for index, hit in enumerate(hits) if _worth(hit, hits[0]) >= _NEARLY * _worth(hits[0], hits[0])]
    quoted = nearly[:MAX_QUOTED] if asks_for_all(query) else [_best(hits, nearly or [0], asked)]
    return [_extract(index, hits[index]) for index in quoted]


def _worth(hit: Answering, best: Answering) -> float:
    """What the hits are in order of: the reranker's score where it gave the best one, else how well they answer."""
    return (hit.relevance if best.rerank_score is None else hit.rerank_score) or 0.0


def _best(hits: Sequence[Answering], nearly: Sequence[int], asked: Question) -> int:
    """The hit to quote, of those that are nearly as good as the first."""
    best = nearly[0]
    if asked.negative and not _denies(hits[best]):
        best = next((index for index in nearly if _denies(hits[index])), best)
    if asked.of_the_past or asked.spans:
        return best
    places = {hits[index].uid: index for index in range(len(hits))}
    seen: set[int] = set()
    while best not in seen and (later := places.get(hits[best].superseded_by or "")) is not None:
        seen.add(best)
        best = later
    return best


def _denies(hit: Answering) -> bool:
    return bool(cues.DENIES.search(_said(hit)))


def _extract(index: int, hit: Answering) -> Extract:
    text = _said(hit)
    return Extract(index, text, [] if hit.sent_at is None else _times(text, hit.sent_at))


def _said(hit: Answering) -> str:
    """A short text as a whole, of a longer one the sentence that answers best and the next."""
    text = hit.content.strip()
    if len(text) > _WHOLE_CHARS and hit.passage:
        sentences = sentences_of(text)
        at = sentences.index(hit.passage) if hit.passage in sentences else 0
        text = " ".join(sentences[at : at + 2])
    return " ".join(excerpt(text, hit.passage, _MAX_CHARS).split())


def _times(text: str, said: datetime) -> list[str]:
    """The words of `text` that are seen from the day on which it was said, with what they mean."""
    found = []
    for span in spans(text, said.date(), looking="nearest"):
        words = text[span.start : span.end].strip()
        if _RELATIVE.search(words.casefold()) and span.first != said.date():
            days = f"{span.first}" if span.days == 1 else f"{span.first} to {span.last}"
            found.append(f"{words}: {days}")
    return found
