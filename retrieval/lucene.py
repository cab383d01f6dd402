"""Full-text queries from user text. User text is data: only words survive, every operator is ours. Pure functions."""

import re
from collections.abc import Iterable

from graph.search import KeywordQuery
from graph.tokens import required_clause
from graph.types import Kind
from retrieval.stopwords import ENGLISH
from retrieval.text import has_cjk, normalise, split_identifier

MAX_TERMS = 32
MAX_CHARS = 512
MAX_NAMES = 8
# Words joined by these are one name (HRB-412, api/v2, pool.size): matched as words, preferred next to each other.
_JOINED = re.compile(r"\w+(?:[-./:@#]\w+)+")
_QUOTED = re.compile(r'["“「『]([^"”」』]{2,100})["”」』]')
_WORD = re.compile(r"\w+")
_PHRASE_BOOST = 2


def keyword_query(query: str) -> KeywordQuery:
    """Return Lucene terms for one query, at most 32 terms of at most 512 characters in all; empty if no word is left.

    A query with CJK letters goes to the cjk index; its words in other scripts also go to the english one. Every other
    query goes to the english index. The file index always takes the words unchanged.
    """
    text = normalise(query)[:MAX_CHARS]
    words = _words(text)
    if not words:
        return KeywordQuery()
    if has_cjk(text):
        plain = [word for word in words if not has_cjk(word)]
        return KeywordQuery(english=_english(plain, text), cjk=_field(_bigrams(words), []), files=_field(words, []))
    return KeywordQuery(english=_english(words, text), files=_field(words, _phrases(text)))


def memories_naming(namespace: str, names: Iterable[str]) -> str | None:
    """Return the whole Lucene query for memories of `namespace` that hold one of the longest MAX_NAMES names, or None
    without a name.
    """
    longest = sorted(names, key=lambda name: (-len(name), name))[:MAX_NAMES]
    phrases = (" ".join(_WORD.findall(name)) for name in longest)
    alternatives = " ".join(f'"{phrase}"' for phrase in phrases if phrase)
    return _of_memories(namespace, f"search_text:({alternatives})") if alternatives else None


def memories_telling(namespace: str, clause: str) -> tuple[str | None, str | None]:
    """Return the whole Lucene queries for memories of `namespace` that hold words of `clause`, for the index of all
    texts and for that of Chinese, Japanese and Korean; None if there is nothing to search for.
    """
    words = keyword_query(clause)
    english = _of_memories(namespace, words.english) if words.english else None
    return english, _of_memories(namespace, words.cjk) if words.cjk else None


def _of_memories(namespace: str, alternatives: str) -> str:
    return f"{required_clause(namespace, [Kind.MEMORY.value], None)} +({alternatives})"


def _english(words: list[str], text: str) -> str | None:
    """Return the topical words, or all words if there are none."""
    topical = [word for word in words if word not in ENGLISH] or words
    phrases = [phrase for phrase in _phrases(text) if not has_cjk(phrase)]
    return _field(topical, phrases)


def _words(text: str) -> list[str]:
    """Return lower-case words without duplicates, with the parts of camelCase names; underscores alone are no words."""
    words: dict[str, None] = {}
    for word in _WORD.findall(text):
        parts = [word.lower()]
        if not word.islower() and word.isascii() and len(split_identifier(word)) > 1:
            parts.extend(split_identifier(word))
        words.update(dict.fromkeys(part for part in parts if part.strip("_")))
    return list(words)[:MAX_TERMS]


def _bigrams(words: list[str]) -> list[str]:
    """Return the words as the cjk index stores them: it pairs letters, so a single one is also matched as the first of
    a pair.
    """
    return [form for word in words for form in ([word, f"{word}*"] if len(word) == 1 and has_cjk(word) else [word])]


def _phrases(text: str) -> list[str]:
    """Return words that the user wrote as one name or between quotation marks."""
    found = _JOINED.findall(text) + _QUOTED.findall(text)
    spaced = (" ".join(_WORD.findall(phrase.lower())) for phrase in found)
    return [phrase for phrase in dict.fromkeys(spaced) if " " in phrase][: MAX_TERMS // 4]


def _field(words: list[str], phrases: list[str]) -> str | None:
    """Return alternatives in the one text field, or None without words."""
    if not words:
        return None
    quoted = [f'"{phrase}"^{_PHRASE_BOOST}' for phrase in phrases]
    return f"search_text:({' '.join([*words, *quoted])})"
