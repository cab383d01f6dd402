"""Files and definitions that a text names: its paths, and words that only code is written with. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from retrieval.files import file_query

MAX_MENTIONS = 30
"""Per text; a text that names more is a list, not a statement about them."""

_URL = re.compile(r"\bhttps?://\S+")
_PATH = re.compile(
    r"(?<![\w./@-])(?:\.{0,2}/)?(?:[\w@.-]+/)*[\w@-][\w@.-]*\.[A-Za-z]\w{0,7}(?:(?::|#L)(?P<line>\d{1,7}))?(?![\w/(])"
)
# snake_case, camelCase, CapWords of two humps, and `anything` in back-ticks or with parentheses behind it.
_NAME = r"[^\W\d]\w{2,}"
_SYMBOL = re.compile(
    rf"`(?:\w+[.:#]+)*(?P<ticked>{_NAME})(?:\(\))?`|\b(?P<called>{_NAME})\(\)"
    r"|\b(?P<written>_*[a-zA-Z]\w*_\w+|[a-z]+\d*[A-Z]\w*|(?:[A-Z][a-z0-9]+){2,}[A-Z]*)\b"
)
_SENTENCE_END = re.compile(r"[.!?。！？](?=\s|$)|\n")


@dataclass(frozen=True, slots=True)
class Mention:
    """A file by its keys (`name`, and `suffix` if folders are named, with `line` from 1), or a definition by its
    `symbol`; "" for unused fields. `quote` is the sentence, a literal part of the text.
    """

    name: str
    suffix: str
    line: int
    symbol: str
    quote: str


def mentions(text: str) -> list[Mention]:
    """Return the mentions of a text in order, without duplicates, at most 30."""
    found: dict[tuple[str, str, str], Mention] = {}
    for mention in _all(text):
        found.setdefault((mention.name, mention.suffix, mention.symbol), mention)
    return list(found.values())[:MAX_MENTIONS]


def _all(text: str) -> Iterator[Mention]:
    plain = _URL.sub(lambda url: " " * len(url[0]), text)
    for path in _PATH.finditer(plain):
        query = file_query(path[0])
        yield Mention(query.name, query.suffix, int(path["line"] or 1), "", _sentence(text, path.start(), path.end()))
    for symbol in _SYMBOL.finditer(plain):
        name = symbol["ticked"] or symbol["called"] or symbol["written"]
        yield Mention("", "", 1, name, _sentence(text, symbol.start(), symbol.end()))


def _sentence(text: str, start: int, end: int) -> str:
    """Return the sentence around a position."""
    before = [stop.end() for stop in _SENTENCE_END.finditer(text, 0, start)]
    behind = _SENTENCE_END.search(text, end)
    return text[before[-1] if before else 0 : behind.end() if behind else len(text)].strip()
