"""Texts of the pages: English is the key, and each other language has a catalogue in `catalogues/`.

A catalogue holds the texts of templates (pages), displayed values of the service (values; untranslated ones stay
unchanged), and titles of problems (problems).
"""

from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files

import msgspec

from librarian.http.web.languages import Language


def translator(language: Language) -> Callable[..., str]:
    """Return a function that translates English texts of the pages into `language` and fills in their braces."""
    words = catalogue(language)

    def translated(text: str, **values: object) -> str:
        said = words.get(text, text)
        return said.format(**values) if values else said

    return translated


@cache
def catalogue(language: Language) -> Mapping[str, str]:
    """Return the catalogue of a language; empty for English."""
    if language == "en":
        return {}
    file = files("librarian.http.web") / "catalogues" / f"{language}.json"
    sections = msgspec.json.decode(file.read_bytes(), type=dict[str, dict[str, str]])
    return {english: word for section in sections.values() for english, word in section.items()}
