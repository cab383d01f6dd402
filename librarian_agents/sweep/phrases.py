"""Phrases as regular expressions for text in lower case, where one letter that does not fit rules a phrase out."""

import re
from collections.abc import Iterable
from itertools import groupby

WORD_BORDER = r"\b"
_CAPITALS = re.compile(r"(\\.)|[A-Z]")


def lower_case(text: str) -> str:
    """Return `text` in lower case, each character at its place: of all letters only İ would become two."""
    return text.replace("İ", "i").lower()


def compiled(pattern: str, flags: re.RegexFlag = re.NOFLAG) -> re.Pattern[str]:
    """Return `pattern` for text in lower case; its own capital letters, except in escapes, mean small ones."""
    return re.compile(_CAPITALS.sub(lambda found: found[0] if found[1] else found[0].lower(), pattern), flags)


def any_of(phrases: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern of regular expressions for text in lower case.

    Those in a row that begin at a word share one border, so that they are tried at the beginnings of words only.
    """
    parts: list[str] = []
    for opens, group in groupby(phrases, key=lambda phrase: phrase.startswith(WORD_BORDER)):
        alternatives = list(group)
        if opens:
            parts.append(f"{WORD_BORDER}(?:{'|'.join(each.removeprefix(WORD_BORDER) for each in alternatives)})")
        else:
            parts.extend(alternatives)
    return compiled("|".join(parts))
