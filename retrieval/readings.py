"""Reads a question, and a text for any question: sentences, terms, and what a sentence does. Pure functions."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from itertools import pairwise

from graph.types import UNKNOWN_TIME
from retrieval import cues
from retrieval.answerness import is_question
from retrieval.cues import Wanted
from retrieval.sentences import stem
from retrieval.stopwords import ENGLISH
from retrieval.times import Span, spans
from retrieval.words import Word, words

SHORT_TEXT = 4
"""Sentences: a text of more is read sentence by sentence, one of fewer as a whole."""

MAX_QUESTION_CHARS = 1_000
"""Characters of a question that are read: a longer one is a pasted text."""

_MAX_SENTENCES = 200
_MAX_SENTENCE_CHARS = 2_000
_SENTENCE = re.compile(
    r"[^\s].*?(?:[.!?…]+[\"'”’)\]]*(?=\s|$)|[。！？]+[」』）”’]*|(?=\n)|$)", re.DOTALL | re.MULTILINE
)
# Particles and endings of Japanese sentences, and their final marks.
_GRAMMAR = re.compile(r"[\u3040-\u309f?？。！]")
# Meanings of phrases of denial, and of change ("turned down", "makes way for").
_DENYING = frozenset(map(stem, ("reject", "forbid", "absent", "cancel", "omit", "oppose", "dislike", "stop", "resign")))
_CHANGING = frozenset(map(stem, ("replace", "switch", "postpone", "stop", "substitute", "earlier")))


@dataclass(frozen=True, slots=True)
class Question:
    """A question: its topical words, the kinds of thing wanted, the spans of time, and its form.

    The form is whether it is negative, is about the past, and asks at all; `keywords`: a list of words instead of a
    sentence. `kind`: the words that name the kind of the answers.
    """

    text: str
    words: Sequence[Word]
    wanted: frozenset[Wanted]
    spans: Sequence[Span]
    negative: bool
    of_the_past: bool
    asks: bool
    keywords: bool
    kind: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence, read once for any question: its terms, each with its weight (0..1); `told` are its own words."""

    text: str
    terms: Mapping[str, float]
    told: int
    asks: bool
    knows_not: bool
    negative: bool
    changes: bool


@dataclass(frozen=True, slots=True)
class Reading:
    """A text, read once for any question: `own_words` are its content words, `marks` names and numbers."""

    sentences: Sequence[Sentence]
    terms: Mapping[str, float]
    own_words: frozenset[str]
    marks: frozenset[str]
    commands: bool
    only_asks: bool
    knows_not: bool


def question(text: str, now: datetime) -> Question:
    """Return the question of `text` at the moment `now`, from its first MAX_QUESTION_CHARS characters."""
    text = text[:MAX_QUESTION_CHARS]
    meant = spans(text, now.date())
    rest = text
    for span in meant:
        rest = rest[: span.start] + " " * (span.end - span.start) + rest[span.end :]
    return Question(
        text=text,
        words=tuple(dict.fromkeys(words(rest))),
        wanted=kinds_wanted(text),
        spans=meant,
        negative=bool(cues.DENIES.search(text)) or any(word.key in _DENYING for word in words(text)),
        of_the_past=bool(cues.ASKS_OF_THE_PAST.search(text)),
        asks=is_question(text),
        keywords=not _GRAMMAR.search(text) and not any(word in ENGLISH for word in text.casefold().split()),
        kind=_kind(text),
    )


@lru_cache(maxsize=4_000)
def kinds_wanted(text: str) -> frozenset[Wanted]:
    """Return the kinds of thing that the question `text` asks for, two at most."""
    wanted = [kind for kind, pattern in cues.ASKS_FOR if pattern.search(text)]
    return frozenset(wanted[:2] or [Wanted.THING])


def _kind(text: str) -> frozenset[str]:
    """Return the keys of the words in `text` that name the kind of the answers."""
    found = cues.NAMES_A_KIND.search(text)
    return frozenset(word.key for word in words((found["english"] or found["japanese"]) if found else ""))


def past_asked(text: str, now: datetime) -> tuple[datetime, datetime] | None:
    """Return the time that a question is about, from and until (exclusive), if that is over at the moment `now`; None
    if it asks about now, what comes, or no time.
    """
    text = text[:MAX_QUESTION_CHARS]
    over = [span for span in spans(text, now.date()) if span.last < now.date()]
    if over:
        first, last = min(span.first for span in over), max(span.last for span in over)
        return _midnight(first), _midnight(last) + timedelta(days=1)
    return (UNKNOWN_TIME, now) if cues.ASKS_OF_THE_PAST.search(text) else None


def _midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)


def asks_why(query: str) -> bool:
    """Return whether `query` asks for a reason."""
    return bool(cues.ASKS_FOR[0][1].search(query[:MAX_QUESTION_CHARS]))


def asks_for_all(query: str) -> bool:
    """Return whether `query` asks for all answers, not the single best."""
    return bool(cues.ASKS_FOR_ALL.search(query[:MAX_QUESTION_CHARS]))


def sentences_of(text: str) -> list[str]:
    """Return the sentences of `text`, in order."""
    return [found[0].strip() for found in _SENTENCE.finditer(text) if found[0].strip()]


def gives_orders(text: str) -> bool:
    """Return whether `text` gives orders to the answerer."""
    return bool(cues.COMMANDS.search(text)) or len(cues.HINTS_AT_COMMANDS.findall(text)) > 1


def _orders_somewhere(parts: Sequence[str]) -> bool:
    """Whether two adjacent sentences give orders: scattered parts of a long text do not, nor does a single phrase."""
    if not cues.COMMANDS.search(text := " ".join(parts)) and not cues.HINTS_AT_COMMANDS.search(text):
        return False
    beside = [f"{one} {other}" for one, other in pairwise(parts)]
    return any(
        len(cues.COMMANDS.findall(pair)) + len(cues.HINTS_AT_COMMANDS.findall(pair)) > 1 and gives_orders(pair)
        for pair in beside
    )


@lru_cache(maxsize=8_000)
def reading(text: str) -> Reading:
    """Return the sentences of `text`, read."""
    parts = [part[:_MAX_SENTENCE_CHARS] for part in sentences_of(text)[:_MAX_SENTENCES]] or [text[:_MAX_SENTENCE_CHARS]]
    read = [_sentence(part) for part in parts]
    terms: dict[str, float] = {}
    for sentence in read:
        for key, worth in sentence.terms.items():
            terms[key] = max(worth, terms.get(key, 0.0))
    telling = [sentence for sentence in read if not sentence.asks and not sentence.knows_not and sentence.terms]
    return Reading(
        sentences=read,
        terms=terms,
        own_words=frozenset(key for sentence in telling for key, worth in sentence.terms.items() if worth == 1.0),
        marks=frozenset(word.key for part in parts for word in words(part) if word.proper or not word.key.isalpha()),
        commands=gives_orders(text) if len(read) < SHORT_TEXT else _orders_somewhere(parts),
        only_asks=not telling and any(sentence.asks for sentence in read),
        knows_not=any(sentence.knows_not for sentence in read) and len(read) < SHORT_TEXT,
    )


def tells_of_change(read: Reading) -> bool:
    """Return whether a sentence tells that something changed."""
    return any(sentence.changes for sentence in read.sentences)


def _sentence(part: str) -> Sentence:
    terms = terms_of(words(part))
    return Sentence(
        text=part,
        terms=terms,
        told=sum(worth == 1.0 for worth in terms.values()),
        asks=_asks(part),
        knows_not=bool(cues.KNOWS_NOT.search(part)),
        negative=bool(cues.DENIES.search(part)) or not _DENYING.isdisjoint(terms),
        changes=bool(cues.TELLS_OF_CHANGE.search(part)) or not _CHANGING.isdisjoint(terms),
    )


def _asks(sentence: str) -> bool:
    """Whether the sentence asks.

    A sentence that begins like a question and ends in a full stop is a statement: "When Leo is here, …"; so is a
    proposal.
    """
    if cues.PROPOSES.search(sentence):
        return False
    return is_question(sentence) and not (sentence.endswith(".") and "?" not in sentence)


def terms_of(found: Sequence[Word]) -> dict[str, float]:
    """Return each term of the words with its weight (0..1): 1 for a word itself."""
    terms: dict[str, float] = {}
    for word in found:
        for key, worth in word.others:
            terms[key] = max(worth, terms.get(key, 0.0))
    return terms | {word.key: 1.0 for word in found}


@lru_cache(maxsize=4_000)
def terms_in(text: str) -> Mapping[str, float]:
    """Return each term of the words of `text` with its weight (0..1)."""
    return terms_of(words(text))


def held(word: Word, terms: Mapping[str, float]) -> float:
    """Return how much (0..1) of `word` is among `terms`."""
    best = terms.get(word.key, 0.0)
    if best < 1.0:
        for key, worth in word.others:
            if key in terms:
                best = max(best, min(worth, terms[key]))
    return best
