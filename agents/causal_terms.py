"""What two texts share: words, identifiers, and the sentence of one that speaks of the other."""

import math
import re
from dataclasses import dataclass
from functools import cached_property, lru_cache

from agents.causal_cues import CueHit, find_cues
from agents.causal_forms import forms
from agents.sections import without_sections

_TOKEN = re.compile(r"[A-Za-z][A-Za-z0-9]+|[\u3040-\u30ff]{2,}|[\u3400-\u9fff]{2,}")
# ADR-12, #418, CVE-2024-1234, v2.3.1, paths and file names: they name one thing.
_REFERENCE = re.compile(
    r"\b[A-Z][A-Z0-9]*-\d+(?:-\d+)?\b|(?<![\w/])#\d+\b|\bv\d+(?:\.\d+)+\b|\b(?=[\w./\\-]{0,99}[A-Za-z])[\w.-]{1,255}+(?:[/\\][\w.-]{1,255}+)+"
    r"|\b\w[\w-]{0,255}\.(?:py|js|ts|tsx|go|rs|java|rb|c|h|cpp|cs|sh|sql|md|toml|yaml|yml|json|conf|ini|tf|lock)\b"
)
# Those, and names of code, which may be a whole product's: `code`, snake_case, dotted.names, camelCase.
_IDENTIFIER = re.compile(
    r"`[^`\n]{2,80}`|\b(?=[\w./\\:]{0,99}[A-Za-z])\w+(?:[./\\:_]+\w+)+\b|\b[a-z]+[A-Z]\w*|\b[A-Z][a-z0-9]+[A-Z]\w*"
)
_SENTENCE = re.compile(r"[^\n.!?。！？]+(?:[.!?](?!\s|$)[^\n.!?。！？]*)*[.!?。！？]*")
_HEADING = re.compile(r"#{1,6}\s")
_URL = re.compile(r"\bhttps?://\S+")
_ENDINGS = ("ing", "ed", "es", "s", "ly")
_SHORTEST_STEM = 4
MAX_CHARS = 20_000
"""How much of a text is read for causes; what is longer is a document, not a memory."""


def stem(word: str) -> str:
    """A word without its English ending, lower-cased: enough to match "failed" and "fails"."""
    word = word.lower()
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            return word[: -len(ending)]
    return word


def stems(text: str) -> frozenset[str]:
    """The content words of `text`, stemmed."""
    return frozenset(
        stem(word) for word in _TOKEN.findall(_URL.sub(" ", text)) if word.lower() not in forms().function_words
    )


def references(text: str) -> frozenset[str]:
    """Names in `text` that mean one thing wherever they stand: tickets, versions, paths, files; lower-cased."""
    return frozenset(found.lower() for found in _REFERENCE.findall(_URL.sub(" ", text)))


def identifiers(text: str) -> frozenset[str]:
    """The references in `text`, and names of code; lower-cased, without back-ticks."""
    named = (found.strip("`").lower() for found in _IDENTIFIER.findall(_URL.sub(" ", text)))
    return references(text).union(named)


def sentences(text: str) -> list[str]:
    """The sentences of `text`, each a literal part of it."""
    return [found[0].strip() for found in _SENTENCE.finditer(text) if found[0].strip()]


def nearest_sentence(text: str, other: frozenset[str]) -> str:
    """The sentence of `text` that shares most words with `other`; the first of equals, a heading only where there is
    nothing else, the whole text without any.
    """
    found = sentences(text)
    told = [sentence for sentence in found if not _HEADING.match(sentence)]
    return max(told or found, key=lambda sentence: len(stems(sentence) & other), default=text.strip())


@dataclass(frozen=True)
class Reading:
    """A text with what is asked of it again and again."""

    text: str

    @cached_property
    def stems(self) -> frozenset[str]:
        """Its content words."""
        return stems(self.text)

    @cached_property
    def references(self) -> frozenset[str]:
        """The references in it."""
        return references(self.text)

    @cached_property
    def sentence_stems(self) -> list[frozenset[str]]:
        """The content words of each sentence."""
        return [stems(sentence) for sentence in sentences(self.text)]

    @cached_property
    def told(self) -> list[tuple[str, list[CueHit]]]:
        """Its sentences that hold an unmistakable cue, with the cues."""
        found = ((sentence, find_cues(sentence, weak=False)) for sentence in sentences(self.text))
        return [(sentence, hits) for sentence, hits in found if hits]

    @cached_property
    def subject(self) -> frozenset[str]:
        """The references in its first line: what it is about."""
        return references(self.text.strip().partition("\n")[0])


@lru_cache(maxsize=2048)
def reading(text: str) -> Reading:
    """The reading of `text`, kept for a while: a sweep compares one memory with many. Sections that a sweep has
    written are read like the text from which they were made.
    """
    return Reading(without_sections(text[:MAX_CHARS]))


@dataclass(frozen=True, slots=True)
class Link:
    """What ties two texts: how many words, the cosine of their sets of words, and shared references."""

    words: int
    cosine: float
    names: frozenset[str]

    @property
    def any(self) -> bool:
        """Whether anything does."""
        return self.words > 0 or bool(self.names)

    @property
    def more_than_a_word(self) -> bool:
        """Whether more than one everyday word does."""
        return self.words > 1 or bool(self.names)


def link(first: Reading, second: Reading) -> Link:
    """What ties two texts; the same in either order."""
    shared = len(first.stems & second.stems)
    size = math.sqrt(len(first.stems) * len(second.stems))
    return Link(shared, shared / size if size else 0.0, first.references & second.references)
