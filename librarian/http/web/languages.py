"""The visitor's language: the one chosen on the page, else the browser's preference."""

import re
from typing import Literal

from starlette.requests import Request

Language = Literal["en", "ja"]
LANGUAGES: dict[Language, str] = {"en": "English", "ja": "日本語"}
LANGUAGE_COOKIE = "librarian-language"

_WEIGHTED = re.compile(r"\s*(?P<tag>[A-Za-z]{1,8})(?:-[A-Za-z0-9-]*)?\s*(?:;\s*q=(?P<q>[01](?:\.[0-9]{0,3})?))?\s*")


def language_of(request: Request) -> Language:
    """Return the language of the pages of this request."""
    for chosen in (request.query_params.get("lang"), request.cookies.get(LANGUAGE_COOKIE)):
        for language in LANGUAGES:
            if chosen == language:
                return language
    return preferred(request.headers.get("accept-language", ""))


def preferred(accepted: str) -> Language:
    """Return the language that an Accept-Language header prefers; English if it names none of ours."""
    weights: dict[str, float] = {}
    for part in accepted[:1000].split(","):
        if found := _WEIGHTED.fullmatch(part):
            weights.setdefault(found["tag"].lower(), float(found["q"] or 1))
    return max(LANGUAGES, key=lambda language: weights.get(language, 0.0))
