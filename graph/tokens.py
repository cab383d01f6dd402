"""Filter tokens: exact values as words that no text analyzer changes.

The full-text indexes hold each item's `tokens` beside its text, so that a search stays inside one namespace without a
second look-up. An analyzer may stem or fold a plain value ("tenant" and "tenants" become one word, "the" vanishes),
so each value is hashed and spelt with sixteen consonants: words without vowels, plural endings or digits, which
stemmers leave alone.
"""

import hashlib
from collections.abc import Sequence
from functools import lru_cache

_LETTERS = str.maketrans("0123456789abcdef", "bcdfghjkmnpqrtvw")
_BITS = 96


@lru_cache(maxsize=10_000)
def token(field: str, value: str) -> str:
    """Return the word for `value` of `field`: 24 letters, equal only for equal pairs (96 bits of SHA-256)."""
    digest = hashlib.sha256(f"{field}\0{value}".encode("utf-8", "surrogatepass")).hexdigest()[: _BITS // 4]
    return digest.translate(_LETTERS)


def item_tokens(namespace: str, kind: str, author: str | None) -> str:
    """Return the `tokens` property of an item: namespace, kind and, where there is one, author."""
    words = [token("namespace", namespace), token("kind", kind)]
    if author:
        words.append(token("author", author))
    return " ".join(words)


def required_clause(namespace: str, kinds: Sequence[str], authors: Sequence[str] | None) -> str:
    """Lucene clauses that an item's tokens must meet; boost 0 keeps them out of the score."""
    clauses = [f"+tokens:{token('namespace', namespace)}^0", _any_of("kind", kinds)]
    if authors:
        clauses.append(_any_of("author", authors))
    return " ".join(clauses)


def _any_of(field: str, values: Sequence[str]) -> str:
    words = " ".join(f"tokens:{token(field, value)}" for value in values)
    return f"+({words})^0"
