"""A candidate as read for items: its sentences, their topics, and its reliability. Pure functions."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from librarian_agents.search.reasoners.cues import cue
from librarian_agents.search.reasoners.passages import Passage, Terms, sentences
from librarian_agents.search.reasoners.questions import stems

NUMBER = re.compile(r"\d+")
_KANA = re.compile(r"[\u3040-\u30ff]")
_TOPIC_JAPANESE = re.compile(r"(.{1,60}?)(?:とは|は、|は|(?<![^\W\d_])が|では、|には、|──|[:：=＝])")
_TOPIC = re.compile(
    r"(.{2,80}?)(?:\s(?:is|are|was|were|means?|meant|refers?|has|have|had|must|may|can|could|will|shall|should|takes?|gives?"
    r"|costs?|lasts?|came|began|broke|opened|closed|appears?|happens?|needs?|requires?|receives?)\b|\s?[:=])",
    re.IGNORECASE,
)
_CALLED = re.compile(
    r"(?:これを|を|の(?:を|ことを))([^、。をは]{1,24}?)(?:という|といい|と呼|とよ|と称)"
    r"|\b(?:called|known as|termed|named)\s+(?:an? |the )?([\w\s'-]{2,40}?)(?=[,.;)]|$)",
    re.IGNORECASE,
)
_YEAR = re.compile(r"\b(?:19|20)\d\d|(?:19|20)\d\d(?=年)")
_EDITION = re.compile(r"\s*[(（][^)）]*[)）]|年版|年度|版|年")
_SPACES = re.compile(r"\s+")
_LETTER = re.compile(r"[^\W_]")


@dataclass(frozen=True, slots=True)
class SentenceReading:
    """A sentence: its stems, those of its subject, those of the name it gives, and whether it points elsewhere."""

    text: str
    stems: frozenset[str]
    topic: frozenset[str]
    called: frozenset[str]
    defers: bool


@dataclass(frozen=True, slots=True)
class PassageReading:
    """A passage: the stems of its text and of its source, its sentences, its numbers, and its text in plain letters."""

    passage: Passage
    stems: frozenset[str]
    source: frozenset[str]
    sentences: tuple[SentenceReading, ...]
    numbers: frozenset[str]
    text: str
    outdated: bool
    plan: bool
    uncertain: bool

    @property
    def held(self) -> frozenset[str]:
        """All its stems, including those of its source."""
        return self.stems | self.source


def read_passages(passages: Sequence[Passage], terms: Terms) -> list[PassageReading]:
    """Read each passage once for all items.

    A passage from an earlier edition of a source that was also found in a later one is outdated.
    """
    readings = [_read(passage, terms) for passage in passages]
    editions = [_edition(reading.passage.source) for reading in readings]
    latest: dict[str, int] = {}
    for name, year in editions:
        latest[name] = max(latest.get(name, 0), year)
    return [
        replace(reading, outdated=True) if 0 < year < latest[name] else reading
        for reading, (name, year) in zip(readings, editions, strict=True)
    ]


def compact(text: str) -> str:
    """Return `text` in lower case with single blanks."""
    return _SPACES.sub(" ", unicodedata.normalize("NFKC", text).casefold()).strip()


def stands_alone(name: str, text: str) -> bool:
    """Return whether `name` is a whole word or compound in `text`: not 競争的阻害 in 非競争的阻害."""
    at = text.find(name) if name else -1
    while at >= 0:
        before, after = text[max(0, at - 1) : at], text[at + len(name) : at + len(name) + 1]
        if not (_continues(before, name[0]) or _continues(name[-1], after)):
            return True
        at = text.find(name, at + 1)
    return False


# Each round of a request reads all findings so far again.
@lru_cache(maxsize=4_000)
def _sentences(text: str, terms: Terms) -> tuple[SentenceReading, ...]:
    return tuple(
        SentenceReading(
            text=sentence,
            stems=stems(sentence, terms),
            topic=stems(_topic(sentence), terms),
            called=stems(_called(sentence), terms),
            defers=cue("defers").search(sentence) is not None,
        )
        for sentence in sentences(text)
    )


def _read(passage: Passage, terms: Terms) -> PassageReading:
    split = _sentences(passage.text, terms)
    whole = f"{passage.source} {passage.text}"
    return PassageReading(
        passage=passage,
        stems=frozenset().union(*(sentence.stems for sentence in split)),
        source=stems(passage.source, terms),
        sentences=split,
        numbers=frozenset(NUMBER.findall(whole)),
        text=compact(whole),
        outdated=cue("outdated").search(whole) is not None,
        plan=cue("plan").search(passage.text) is not None,
        uncertain=cue("uncertain").search(passage.text) is not None,
    )


def _edition(source: str) -> tuple[str, int]:
    """Return the name of a source without its edition, and the edition's year."""
    years = [int(year) for year in _YEAR.findall(source)]
    return _EDITION.sub("", _YEAR.sub("", source)).strip(), max(years, default=0)


def _topic(sentence: str) -> str:
    """Return the text before the first particle or verb of a sentence."""
    found = (_TOPIC_JAPANESE if _KANA.search(sentence) else _TOPIC).match(sentence)
    return found[1] if found else ""


def _called(sentence: str) -> str:
    found = _CALLED.search(sentence)
    return (found[1] or found[2]) if found else ""


def _continues(letter: str, following: str) -> bool:
    """Whether two letters may belong to one word."""
    if not letter or not following or not (_LETTER.match(letter) and _LETTER.match(following)):
        return False
    hiragana = any("\u3040" <= each <= "\u309f" for each in (letter, following))
    return not hiragana and letter.isascii() == following.isascii()
