"""Answers without a language model: quotations from the best hits. Pure functions.

They quote and do not conclude: the best hit or, for a question that wants everything, every hit that is nearly as good.
A text that repeats the question, admits that nobody knows, or gives orders is never quoted; a replaced text gives way
to its replacement, and a negative question prefers a hit that denies.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol, TypeVar

from retrieval import cues
from retrieval.answering import Verdict
from retrieval.excerpts import excerpt
from retrieval.readings import Question, asks_for_all, asks_why, held, question, reading, sentences_of, terms_of
from retrieval.text import has_cjk
from retrieval.times import spans
from retrieval.tokens import tokens
from retrieval.words import words

MAX_QUOTED = 8
"""Most hits to quote when everything is asked for."""

LEAST_SUPPORT = 0.55
LEAST_SUPPORT_UNREAD = 0.4
"""How well the question's own words and meaning must back a hit that answers (0..1). The second applies if the question
is in a language without similarity, or if the hit also answers well and is about the time or words asked for.
"""

LEAST_RELEVANCE = 0.6
_SURELY_NAMED, _SURELY_ABBREVIATED = 0.85, 0.7
_SURELY_NEAR = 0.62
_SAID = 0.6

_NEARLY = 0.7
_LISTED, _LISTED_OF_A_TIME = 0.6, 0.8
_WHOLE_TOKENS = 107
_FEW_WORDS = 4
_MAX_CHARS = 400
_TELLS = frozenset({Verdict.ANSWERS.value, Verdict.SHARES_TOPIC.value})
# Words that mean another day depending on when they are said.
_RELATIVE = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|ago|last|next|this|previous|coming)\b"
    "|昨日|昨夜|一昨日|おととい|今日|本日|明日|明後日|[先今来][週月]|[去昨今来]年|(?:日|週間?|か月|ヶ月|年)前"
)


class Answering(Protocol):
    """The fields of a hit that an answer made of quotations needs."""

    @property
    def uid(self) -> str:
        """Its uid."""

    @property
    def content(self) -> str:
        """Its text."""

    @property
    def author_name(self) -> str | None:
        """Its author."""

    @property
    def score(self) -> float:
        """Its similarity to the question (0..1)."""

    @property
    def sent_at(self) -> datetime | None:
        """When it was said or began to hold."""

    @property
    def verdict(self) -> str | None:
        """Its relation to the question (retrieval.answering.Verdict)."""

    @property
    def support(self) -> float | None:
        """How well the question backs it (0..1)."""

    @property
    def relevance(self) -> float | None:
        """How well it answers, compared with the other hits (0..1)."""

    @property
    def rerank_score(self) -> float | None:
        """A reranker's score (0..1)."""

    @property
    def superseded_by(self) -> str | None:
        """The uid of a later statement about the same."""

    @property
    def passage(self) -> str | None:
        """Its sentence that answers best."""

    @property
    def led_by(self) -> Sequence["Led"]:
        """The items that led to it, according to accepted edges."""


class Led(Protocol):
    """An item that led to a hit."""

    @property
    def uid(self) -> str:
        """Its uid."""


H = TypeVar("H", bound=Answering)


@dataclass(frozen=True, slots=True)
class Extract:
    """An answering quotation from the hit at index `hit` (from 0); `times` are its words such as "yesterday", with the
    days they mean.
    """

    hit: int
    text: str
    times: Sequence[str] = field(default=())


def supporting(hits: Sequence[H], query: str, now: datetime) -> list[H]:
    """Return the hits that may support an answer, in order; none if the best is not backed well enough."""
    asked = question(query, now)
    telling = [hit for hit in hits if hit.verdict is None or hit.verdict in _TELLS]
    backed = [hit for hit in telling if _backs(hit, asked)]
    if asks_why(query):
        backed = _with_causes(telling, backed)
    if not backed or backed[0] not in telling[:3]:
        return []
    # Items of a list share few words with the question.
    return telling[telling.index(backed[0]) :] if asks_for_all(query) else backed


def _with_causes(telling: Sequence[H], backed: Sequence[H]) -> list[H]:
    """Return the `backed` hits and those that led to them, step by step, in words of their own."""
    found = {hit.uid for hit in backed}
    leading = {hit.uid: {cause.uid for cause in hit.led_by} for hit in telling}
    while more := {uid for of in found for uid in leading.get(of, ()) if uid in leading} - found:
        found |= more
    return [hit for hit in telling if hit.uid in found]


def _backs(hit: Answering, asked: Question) -> bool:
    """Return whether a hit is near enough to the question, and about it: not only about somebody named in it."""
    names, others = _held(hit, asked)
    if names and not asked.spans:
        if sum(names) / len(names) < 0.5 and hit.score < _surely_named(asked) and not has_cjk(hit.content):
            return False
        if others and max(others) < _SAID and hit.score < _SURELY_NEAR:
            return False
    support = hit.support or 0.0
    if support >= (LEAST_SUPPORT_UNREAD if has_cjk(asked.text) else LEAST_SUPPORT):
        return True
    is_about_it = bool(asked.spans) or asks_for_all(asked.text) or max(others, default=0.0) >= _SAID
    return is_about_it and support >= LEAST_SUPPORT_UNREAD and (hit.relevance or 0.0) >= LEAST_RELEVANCE


def _surely_named(asked: Question) -> float:
    """Return the similarity required of a hit without the name asked for: an abbreviation has other wordings, a name
    has none.
    """
    abbreviated = all(word.key.upper() in asked.text for word in asked.words if word.proper)
    return _SURELY_ABBREVIATED if abbreviated else _SURELY_NAMED


def _held(hit: Answering, asked: Question) -> tuple[list[float], list[float]]:
    """Return how much (0..1) of each name and of each other word of the question the hit contains."""
    said, author = reading(hit.content).terms, terms_of(words(hit.author_name or ""))
    shares = [(word.proper, max(held(word, said), held(word, author))) for word in asked.words]
    return [share for proper, share in shares if proper], [share for proper, share in shares if not proper]


def extracts(hits: Sequence[Answering], query: str, now: datetime) -> list[Extract]:
    """Return extracts of the best of `hits` (best first) for `query`, asked at `now`: at most one per hit."""
    if not hits:
        return []
    asked = question(query, now)
    if asks_for_all(query):
        items = _nearly(hits, _LISTED_OF_A_TIME if asked.spans else _LISTED)
        return [_extract(index, hits[index]) for index in items[:MAX_QUOTED]]
    best = _best(hits, _nearly(hits, _NEARLY), asked)
    return [_extract(best, hits[best])]


def _nearly(hits: Sequence[Answering], share: float) -> list[int]:
    """Return the indexes of the first hit and those at least `share` (0..1) as good."""
    least = share * _worth(hits[0], hits[0])
    return [index for index, hit in enumerate(hits) if index == 0 or _worth(hit, hits[0]) >= least]


def _worth(hit: Answering, best: Answering) -> float:
    """Return the value that orders hits: the reranker's score if it scored the best one, else how well they answer."""
    return (hit.relevance if best.rerank_score is None else hit.rerank_score) or 0.0


def _best(hits: Sequence[Answering], nearly: Sequence[int], asked: Question) -> int:
    """Return the hit to quote, among those nearly as good as the first."""
    best = nearly[0]
    if asked.negative and not _denies(hits[best]):
        best = next((index for index in nearly if _denies(hits[index])), best)
    if asked.of_the_past or asked.spans:
        return best
    index_of = {hits[index].uid: index for index in range(len(hits))}
    seen: set[int] = set()
    while best not in seen and (later := index_of.get(hits[best].superseded_by or "")) is not None:
        seen.add(best)
        best = later
    return best


def _denies(hit: Answering) -> bool:
    return bool(cues.DENIES.search(_said(hit)))


def _extract(index: int, hit: Answering) -> Extract:
    text = _said(hit)
    return Extract(index, text, [] if hit.sent_at is None else _times(text, hit.sent_at))


def _said(hit: Answering) -> str:
    """Return a short text whole, of a longer one the sentence that answers best, with the next if it says little."""
    text = hit.content.strip()
    if tokens(text) > _WHOLE_TOKENS and hit.passage:
        sentences = sentences_of(text)
        at = sentences.index(hit.passage) if hit.passage in sentences else 0
        says_little = len(reading(sentences[at]).own_words) < _FEW_WORDS
        text = " ".join(sentences[at : at + (2 if says_little else 1)])
    return " ".join(excerpt(text, hit.passage, _MAX_CHARS).split())


def _times(text: str, said: datetime) -> list[str]:
    """Return the words of `text` that are relative to the day it was said, with their meanings."""
    found = []
    for span in spans(text, said.date(), looking="nearest"):
        wording = text[span.start : span.end].strip()
        if _RELATIVE.search(wording.casefold()) and span.first != said.date():
            days = f"{span.first}" if span.days == 1 else f"{span.first} to {span.last}"
            found.append(f"{wording}: {days}")
    return found
