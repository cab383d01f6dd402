"""Words that make a hit right whatever its vector says: an encoder cannot tell ticket numbers apart. Pure functions."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from retrieval.stopwords import ENGLISH
from retrieval.text import normalise

_QUOTED = re.compile(r'["“「『]([^"”」』]{2,100})["”」』]')
# Joined words, such as HRB-412, api/v2, pool.size and lock_timeout.
_JOINED = re.compile(r"\w+(?:[-./:@#]\w+)+|\w*[^\W_]_\w+")
_CAMEL = re.compile(r"[a-z]+[A-Z]\w*|[A-Z][a-z0-9]+[A-Z]\w*")
# Long enough for an id, a port or a code: days of the month, counts and years occur in many texts.
_NUMBER = re.compile(r"(?<![\w.,])(?!(?:19|20)\d\d(?!\d))\d{3,}(?![\w])")
_WORD = re.compile(r"\w+")
_POSSESSIVE = re.compile(r"['’]s\b")
_LETTERS_AND_DIGITS = re.compile(r"(?=\w*\d)(?=\w*[^\W\d_])\w{3,}")
_MIN_PART = 3


@dataclass(frozen=True, slots=True)
class Distinctive:
    """Distinctive parts of a query, in lower case: each of `terms` alone, or all `words` together (none: nothing)."""

    terms: frozenset[str]
    words: frozenset[str]


def distinctive(query: str) -> Distinctive:
    """Return the identifiers, long numbers and quoted phrases of `query`, and its topical words."""
    text = normalise(query)
    terms = {*_QUOTED.findall(text), *_identifiers(text), *_NUMBER.findall(text), *_LETTERS_AND_DIGITS.findall(text)}
    return Distinctive(frozenset(term.casefold().strip() for term in terms), _topical(text))


def holds_distinctive(text: str, queries: Sequence[Distinctive]) -> bool:
    """Return whether `text` holds a distinctive term of any of the queries, or all the topical words of one."""
    lower = normalise(text).casefold()
    words = set(_WORD.findall(lower))
    return any(
        any(_holds(lower, term) for term in query.terms)
        # Words of a script without blanks are searched inside the text.
        or (query.words and all(word in words or (not word.isascii() and word in lower) for word in query.words))
        for query in queries
    )


def _topical(text: str) -> frozenset[str]:
    """Return the topical words; none if there is only a single one in a sentence, which many texts may hold."""
    all_words = [word for word in _WORD.findall(_POSSESSIVE.sub("", text.casefold())) if word.strip("_")]
    words = frozenset(word for word in all_words if word not in ENGLISH)
    return words if len(words) > 1 or len(words) == len(set(all_words)) else frozenset()


def _identifiers(text: str) -> list[str]:
    return [found for found in _JOINED.findall(text) + _CAMEL.findall(text) if _is_identifier(found)]


def _is_identifier(joined: str) -> bool:
    """Return whether it is more than plain words joined, such as follow-up, he/she, e.g."""
    parts = _WORD.findall(joined)
    if len(parts) == 1:
        return True
    telling = any(len(part) >= _MIN_PART and part.casefold() not in ENGLISH for part in parts)
    return telling and (not joined.replace("-", "").isalpha() or joined.isupper())


def _holds(text: str, term: str) -> bool:
    """Return whether `text` holds `term` between word boundaries (in scripts that have them)."""
    if not term.isascii():
        return term in text
    return re.search(rf"(?<!\w){re.escape(term)}(?!\w)", text) is not None
