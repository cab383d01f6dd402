"""The pages' own words: English is the key, and each other language has a catalogue in `catalogues/`.

A catalogue holds the words of templates (pages), values of the service that pages show (values; what has no word stays
as it is), and titles of problems (problems).
"""

from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files

import msgspec

from librarian.http.web.languages import Language


def translator(language: Language) -> Callable[..., str]:
    """Return a function that turns English words of the pages into `language`, and puts values into their braces."""
    words = catalogue(language)

    def translated(text: str, **values: object) -> str:
        said = words.get(text, text)
        return said.format(**values) if values else said

    return translated


@cache
def catalogue(language: Language) -> Mapping[str, str]:
    """Return the words of a language; none for English."""
    if language == "en":
        return {}
    file = files("librarian.http.web") / "catalogues" / f"{language}.json"
    sections = msgspec.json.decode(file.read_bytes(), type=dict[str, dict[str, str]])
    return {english: word for section in sections.values() for english, word in section.items()}
