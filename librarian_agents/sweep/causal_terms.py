"""Overlap of two texts: words, identifiers, and the sentence of one that is about the other."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.resources import files
from itertools import pairwise

from librarian_agents.sweep.sections import without_sections

_TOKEN = re.compile(r"[A-Za-z][A-Za-z0-9]+|[\u3040-\u30ff]{2,}|[\u3400-\u9fff]{2,}")
# ADR-12, #418, CVE-2024-1234, v2.3.1, paths and file names: unambiguous names.
_REFERENCE = re.compile(
    r"\b[A-Z][A-Z0-9]*-\d+(?:-\d+)?\b|(?<![\w/])#\d+\b|\bv\d+(?:\.\d+)+\b|\b(?=[\w./\\-]{0,99}[A-Za-z])[\w.-]{1,255}+(?:[/\\][\w.-]{1,255}+)+"
    r"|\b\w[\w-]{0,255}\.(?:py|js|ts|tsx|go|rs|java|rb|c|h|cpp|cs|sh|sql|md|toml|yaml|yml|json|conf|ini|tf|lock)\b"
)
# These, and names in code, which may be a whole product's: `code`, snake_case, dotted.names, camelCase.
_IDENTIFIER = re.compile(
    r"`[^`\n]{2,80}`|\b(?=[\w./\\:]{0,99}[A-Za-z])\w+(?:[./\\:_]+\w+)+\b|\b[a-z]+[A-Z]\w*|\b[A-Z][a-z0-9]+[A-Z]\w*"
)
_SENTENCE = re.compile(r"[^\n.!?。！？]+(?:[.!?](?!\s|$)[^\n.!?。！？]*)*[.!?。！？]*")
_HEADING = re.compile(r"#{1,6}\s")
_URL = re.compile(r"\bhttps?://\S+")
_SHORTEST_STEM = 4
# Stripped in this order, the first match of each group.
_ENDINGS = (
    ("s",),
    ("ing", "ed", "ly", "er", "or"),
    ("ation", "ition", "ment", "ion", "al", "ance", "ence", "ness", "at"),
    ("e", "i"),
)
_CONTENT = re.compile(
    r"(?P<name>\b[A-Za-z][A-Za-z0-9]*(?:[-_./:@]+[A-Za-z0-9]+)+|\b[A-Za-z]+\d[\w]*|(?<![\w#])#\d+|(?<![\d.,:])0\d{2,}(?![\d.,:]))"
    r"|(?P<number>\d+(?:[.,:]\d+)*)"
    r"|(?P<word>[^\W\d_\u3040-\u30ff\u3400-\u9fff]+(?:['’][a-z]+)?)"
    r"|(?P<katakana>[\u30a0-\u30ff]{2,})|(?P<kanji>[\u3400-\u9fff々]+)"
)
# The part of "pop-fra2" that is a name by itself.
_NUMBERED_PART = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]{2,}\d+[A-Za-z0-9]*(?![A-Za-z0-9])")
_NAME, _WORD, _CAPITAL, _NUMBER, _KATAKANA, _PAIR, _SINGLE, _PART = 2.0, 1.0, 1.3, 0.5, 1.2, 0.8, 0.5, 0.2
MAX_CHARS = 20_000
"""Characters of a text that are read for causes; a longer text is a document, not a memory."""

_WORDS = tomllib.loads(files("librarian_agents.sweep").joinpath("causal_terms.toml").read_text(encoding="utf-8"))
_EMPTY, _DATES, _COMMON_PAIRS, _LIGHT = (
    frozenset(_WORDS[name].split()) for name in ("empty", "dates", "pairs", "light")
)
_COMMON_KANJI = frozenset(_WORDS["kanji"])
_SETTLED, _WANTING = (re.compile(_WORDS[name], re.IGNORECASE) for name in ("settled", "wanting"))


def state(text: str) -> int:
    """Return whether `text` says that a thing works (1) or is defective (-1); 0 for neither, or both."""
    return bool(_SETTLED.search(text)) - bool(_WANTING.search(text))


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """Return a word without its English ending, lower-cased: enough to match "expired" and "expiry"."""
    word = word.lower().removesuffix("'s").removesuffix("’s")
    for endings in _ENDINGS:
        for ending in endings:
            if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM - (ending in ("s", "e", "ed")):
                word = word[: -len(ending)]
                break
    if len(word) > _SHORTEST_STEM and word[-1] == word[-2] and word[-1] in "bdglmnprt":
        return word[:-1]
    return f"{word[:-1]}i" if word.endswith("y") and len(word) > _SHORTEST_STEM else word


_LIGHT_STEMS = frozenset(stem(word) for word in _LIGHT)


def stems(text: str) -> frozenset[str]:
    """Return the content words of `text`, stemmed."""
    return frozenset(stem(word) for word in _TOKEN.findall(_URL.sub(" ", text)) if word.lower() not in _EMPTY)


def terms(text: str) -> dict[str, float]:
    """Return the content terms of `text` with their weights: names most, numbers least.

    English words are stemmed; Japanese terms are katakana words and pairs of kanji.
    """
    found: dict[str, float] = {}
    for match in _CONTENT.finditer(_URL.sub(" ", text)):
        for term, weight in _terms_of(match):
            found[term] = max(weight, found.get(term, 0.0))
    return found


def said_of(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the content words of `text` verbatim, each with its terms."""
    for match in _CONTENT.finditer(_URL.sub(" ", text)):
        if held := [term for term, weight in _terms_of(match) if weight]:
            yield match[0], held


def _terms_of(match: re.Match[str]) -> Iterator[tuple[str, float]]:
    said = match[0]
    match match.lastgroup:
        case "name":
            yield said.lower(), _NAME if any(character.isdigit() for character in said) else _CAPITAL
            yield from _parts_of(said)
        case "number":
            yield said, _NUMBER
        case "word":
            if said.lower() not in _EMPTY and len(said) > 1:
                term, name = stem(said), said[0].isupper() and match.start()
                light = said.lower() in _DATES or term in _LIGHT_STEMS
                yield term, _NUMBER if light else _CAPITAL if name else _WORD
        case "katakana":
            yield said.rstrip("ー"), _KATAKANA
        case _:
            for character in said:
                yield character, (_SINGLE if len(said) == 1 else _PART) * (character not in _COMMON_KANJI)
            for first, second in pairwise(said):
                yield first + second, _PAIR * (first + second not in _COMMON_PAIRS)


def _parts_of(name: str) -> Iterator[tuple[str, float]]:
    for part in re.findall(r"[A-Za-z]{3,}", name):
        if part.lower() not in _EMPTY:
            yield stem(part), _WORD / 2
    for part in _NUMBERED_PART.findall(name):
        if part != name:
            yield part.lower(), _WORD


def references(text: str) -> frozenset[str]:
    """Return unambiguous names in `text`: tickets, versions, paths, files; lower-cased."""
    return frozenset(found.lower() for found in _REFERENCE.findall(_URL.sub(" ", text)))


@lru_cache(maxsize=4_096)
def identifiers(text: str) -> frozenset[str]:
    """Return the references in `text`, and names in code; lower-cased, without back-ticks; cached."""
    named = (found.strip("`").lower() for found in _IDENTIFIER.findall(_URL.sub(" ", text)))
    return references(text).union(named)


def sentences(text: str) -> list[str]:
    """Return the sentences of `text`, each a literal part of it."""
    return [found[0].strip() for found in _SENTENCE.finditer(text) if found[0].strip()]


def nearest_by(found: Sequence[tuple[str, Mapping[str, float]]], said: Mapping[str, float]) -> str:
    """Return the sentence that shares most with the terms `said`, the first of equals; headings only as a last resort.

    Sentences are given with their terms.
    """
    prose = [each for each in found if not _HEADING.match(each[0])] or list(found)
    return max(prose, key=lambda each: sum(said.get(term, 0.0) for term in each[1]), default=("", {}))[0]


@dataclass(frozen=True)
class Reading:
    """A text with its cached properties."""

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
    def told(self) -> list[tuple[str, frozenset[str]]]:
        """Its sentences with their content words; headings only if there is nothing else."""
        found = sentences(self.text)
        prose = [sentence for sentence in found if not _HEADING.match(sentence)]
        return [(sentence, stems(sentence)) for sentence in prose or found]

    def nearest_sentence(self, other: frozenset[str]) -> str:
        """Return the sentence that shares most words with `other`; the first of equals, the whole text without any."""
        return max(self.told, key=lambda each: len(each[1] & other), default=(self.text.strip(), other))[0]


@lru_cache(maxsize=2048)
def reading(text: str) -> Reading:
    """Return the reading of `text`, cached: a sweep compares one memory with many.

    Sections written by a sweep are read like their original text.
    """
    return Reading(without_sections(text[:MAX_CHARS]))
