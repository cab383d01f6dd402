"""Kinds of things that target items ask for: their names in items and questions, and their signs in texts."""

import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

SAYS, SHOWS = 1.0, 0.5
"""How certain it is that a text holds a kind: it says so itself, or looks like it."""

_PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+(?:\.\d+)?|[^\W\da-zA-Z_]+")
# The head of an English name precedes these: the number of deaths, rules for cars.
_AFTER_HEAD = frozenset({"of", "for", "on", "from", "to", "in", "at", "about", "by", "during", "with", "per", "after"})
_LATIN_WORD = re.compile(r"[A-Za-z]+")
_LETTERS = r"一-龥々〆ァ-ヶー"
_ASKS = re.compile(
    r"\b(?:what|when|where|who|whom|which|why|how|is|are|was|were|do|does|did|can|may)\b.*\?\s*\Z"
    r"|\b(?:what|when|where|who|whom|why|how)\b|[?？か]\s*\Z",
    re.IGNORECASE,
)
# The more specific question words take precedence: whom to call before who, by when before when.
_BY_QUESTION = (
    *("deadline", "contact", "duration", "reason", "definition", "remedy", "procedure", "number"),
    "date",
    "place",
    "person",
)


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of item; `ask` holds query words for it, by language, best first.

    Of its names, `heads` also name the topic of an item ("deposit").
    """

    name: str
    named: frozenset[str]
    heads: frozenset[str]
    asked: re.Pattern[str]
    ask: Mapping[str, Sequence[str]]
    says: re.Pattern[str]
    shows: re.Pattern[str]

    def strength(self, text: str) -> float:
        """Return how certain it is that `text` holds one: SAYS, SHOWS or 0."""
        if self.says.search(text):
            return SAYS
        return SHOWS if self.shows.search(text) else 0.0


def parts(name: str) -> list[str]:
    """Split an item's name into lower-case words: `interpretation_0_1`, `unitPrice`, `計算式`."""
    return [part.casefold() for part in _PARTS.findall(name)]


@cache
def kind_of(item: str) -> tuple[Kind | None, str]:
    """Return the kind that an item names or asks for, and its name without the word that only names the kind."""
    if item.isascii() and _ASKS.search(item.replace("_", " ")) and len(parts(item)) > 1:
        asked = next((kind for name in _BY_QUESTION if (kind := kinds()[name]).asked.search(item)), None)
        if asked is not None:
            return asked, item
    return _named_japanese(item) if not item.isascii() else _named_english(item)


def without_kinds(question: str, names: Collection[str] | None = None) -> str:
    """Return `question` without the words that name a kind, all or those of `names`.

    For instance without `計算式` in `決定係数の計算式`.
    """
    chosen = frozenset(kinds() if names is None else names)
    return _names_of(chosen).sub(" ", question)


def without_asking(question: str, names: frozenset[str]) -> str:
    """Return `question` without the Latin words that ask for a kind of `names`.

    For instance without `decided` in "what was decided about the roof".
    """
    return _LATIN_WORD.sub(lambda word: " " if _asks_for(word[0], names) else word[0], question)


@cache
def kinds() -> Mapping[str, Kind]:
    """Return all kinds by name, from the data file."""
    table = tomllib.loads(files("librarian_agents.search.reasoners").joinpath("kinds.toml").read_text(encoding="utf-8"))
    return {
        name: Kind(
            name=name,
            named=frozenset(entry["named"]),
            heads=frozenset(entry.get("heads", ())),
            asked=re.compile(entry["asked"], re.IGNORECASE),
            ask=entry["ask"],
            says=re.compile(entry["says"], re.IGNORECASE | re.DOTALL),
            shows=re.compile(entry["shows"], re.IGNORECASE | re.DOTALL),
        )
        for name, entry in table.items()
    }


@cache
def listed_kinds() -> re.Pattern[str]:
    """Return the pattern that joins the Japanese name of a kind to the next one: と in 決定係数の定義と計算式."""
    names = sorted({word for kind in kinds().values() for word in kind.named if not word.isascii() and len(word) > 1})
    by_length: dict[int, list[str]] = {}
    for name in names:
        by_length.setdefault(len(name), []).append(re.escape(name))
    behind = "|".join(f"(?<={'|'.join(some)})" for some in by_length.values())
    return re.compile(f"(?:{behind})(?:と|や|・|および|及び)(?!い[うっ]|は|の)")


def _named_japanese(item: str) -> tuple[Kind | None, str]:
    """The longest name at the end of the item counts: 条文番号 is no number."""
    ending = item.rstrip("。？！?! 　")
    found = max(
        (
            (word, kind)
            for kind in kinds().values()
            for word in kind.named | kind.heads
            if not word.isascii() and ending.endswith(word)
        ),
        key=lambda pair: len(pair[0]),
        default=None,
    )
    if found is not None:
        word, kind = found
        return kind, ending if word in kind.heads else ending.removesuffix(word).removesuffix("の")
    asked = next((kind for name in _BY_QUESTION if (kind := kinds()[name]).asked.search(item)), None)
    return asked, item


def _named_english(item: str) -> tuple[Kind | None, str]:
    """The head counts, with the word before it (closing time) or alone, then any other word."""
    words = parts(item)
    head = next((at for at, word in enumerate(words) if at and word in _AFTER_HEAD), len(words))
    for at in [*reversed(range(head)), *range(head, len(words))]:
        for start in (at - 1, at) if at not in (0, head) else (at,):
            name = " ".join(words[start : at + 1])
            kind = _by_name().get(name)
            if kind is not None:
                return kind, " ".join(words if name in kind.heads else [*words[:start], *words[at + 1 :]])
    return None, " ".join(words)


@lru_cache(maxsize=4_000)
def _asks_for(word: str, names: frozenset[str]) -> bool:
    return any(kinds()[name].asked.search(word) for name in names)


@cache
def _by_name() -> Mapping[str, Kind]:
    return {word: kind for kind in kinds().values() for word in kind.named | kind.heads}


@cache
def _names_of(names: frozenset[str]) -> re.Pattern[str]:
    """Match whole words; of a script without blanks, words that no further letter of a compound follows."""
    named = sorted((word for name in names for word in kinds()[name].named), key=len, reverse=True)
    words = "|".join(re.escape(word) for word in named if word.isascii())
    others = "|".join(re.escape(word) for word in named if not word.isascii() and len(word) > 1)
    return re.compile(rf"\b(?:{words or '(?!)'})\b|(?:{others or '(?!)'})(?![{_LETTERS}])", re.IGNORECASE)
