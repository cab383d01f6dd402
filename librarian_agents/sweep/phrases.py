"""Phrases as regular expressions for text in lower case, where one letter that does not fit rules a phrase out."""

import re

_CAPITALS = re.compile(r"(\\.)|[A-Z]")


def lower_case(text: str) -> str:
    """Return `text` in lower case, each character at its place: of all letters only İ would become two."""
    return text.replace("İ", "i").lower()


def compiled(pattern: str, flags: re.RegexFlag = re.NOFLAG) -> re.Pattern[str]:
    """Return `pattern` for text in lower case; its own capital letters, except in escapes, mean small ones."""
    return re.compile(_CAPITALS.sub(lambda found: found[0] if found[1] else found[0].lower(), pattern), flags)
