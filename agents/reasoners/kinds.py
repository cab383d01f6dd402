"""What kind of thing a target item asks for, told by its name, and how a text shows that it holds one."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

SAYS, SHOWS = 1.0, 0.5
"""How certain it is that a text holds a kind: it says so itself, or it looks so."""

_PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+(?:\.\d+)?|[^\W\da-zA-Z_]+")
# A name of more words is a phrase or a question, whose words mean what they say.
_MOST_WORDS = 4


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of item; `ask` holds the words of queries for it, by language, the best first."""

    name: str
    named: frozenset[str]
    ask: Mapping[str, Sequence[str]]
    says: re.Pattern[str]
    shows: re.Pattern[str]

    def asked_in(self, question: str) -> Sequence[str]:
        """Words that ask for the kind, in the language of `question`."""
        return self.ask["en" if question.isascii() else "ja"]

    def strength(self, text: str) -> float:
        """How certain it is that `text` holds one: SAYS, SHOWS or 0."""
        if self.says.search(text):
            return SAYS
        return SHOWS if self.shows.search(text) else 0.0


def parts(name: str) -> list[str]:
    """The words of an item's name, lower-case: `interpretation_0_1`, `unitPrice`, `計算式`."""
    return [part.casefold() for part in _PARTS.findall(name)]


def kind_of(item: str) -> tuple[Kind | None, tuple[str, ...]]:
    """The kind that a short name tells, and the words that are left of it; no kind for a phrase or a question."""
    words = parts(item)
    if len(words) > _MOST_WORDS:
        return None, tuple(words)
    for kind in kinds():
        told = [word for word in words if word in kind.named]
        if told:
            return kind, tuple(word for word in words if word not in kind.named)
    return None, tuple(words)


def without_kinds(question: str) -> str:
    """What `question` asks about, without the words that name a kind of thing: no `計算式` in `決定係数の計算式`."""
    return _names_of_kinds().sub(" ", question)


@cache
def _names_of_kinds() -> re.Pattern[str]:
    """Whole words; of a script without blanks any place, but for single letters, which are parts of other words."""
    named = sorted((word for kind in kinds() for word in kind.named), key=len, reverse=True)
    words = "|".join(re.escape(word) for word in named if word.isascii())
    others = "|".join(re.escape(word) for word in named if not word.isascii() and len(word) > 1)
    return re.compile(rf"\b(?:{words})\b|{others}", re.IGNORECASE)


@cache
def kinds() -> tuple[Kind, ...]:
    """All kinds, from the data file."""
    table = tomllib.loads(files("agents.reasoners").joinpath("kinds.toml").read_text(encoding="utf-8"))
    return tuple(
        Kind(
            name=name,
            named=frozenset(entry["named"]),
            ask=entry["ask"],
            says=re.compile(entry["says"], re.IGNORECASE | re.DOTALL),
            shows=re.compile(entry["shows"], re.IGNORECASE | re.DOTALL),
        )
        for name, entry in table.items()
    )
