"""Normalised queries: no query is sent twice. Pure functions."""

import re
import unicodedata
from collections.abc import Iterable, Sequence

_NOT_WORDS = re.compile(r"[\W_]+")


def fresh(queries: Iterable[str], asked: Sequence[str], *, most: int, chars: int) -> tuple[str, ...]:
    """Return the first `most` of `queries` that were not `asked`, each once and cut to `chars` characters.

    Letter case, width and marks are ignored.
    """
    seen = {_normalised(query) for query in asked}
    kept = []
    for query in queries:
        cut = " ".join(query.split())[:chars].strip()
        if (key := _normalised(cut)) and key not in seen:
            seen.add(key)
            kept.append(cut)
    return tuple(kept[:most])


def _normalised(query: str) -> str:
    return _NOT_WORDS.sub(" ", unicodedata.normalize("NFKC", query).casefold()).strip()
