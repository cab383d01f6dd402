"""The form of a memory: its label, how it points back, and what its words tell."""

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from agents.causal_types import Relation

# A date, perhaps with a time, perhaps in brackets: [2025-03-29 13:16:37].
_DATE = r"\[?\d{4}-\d\d-\d\d[^\]\s|:]*(?:\s\d\d:\d\d(?::\d\d)?)?\]?[\s|:–-]*"
# Bullets, quotes, emphasis, check boxes and dates before the first word.
_LEAD = rf"^(?:[\s>*#\-+•|_]|\[[ x]\]|{_DATE}|(?:and|but|also)\s)*"


@dataclass(frozen=True, slots=True)
class Forms:
    """The compiled patterns of causal_forms.toml."""

    labels: dict[str, re.Pattern[str]]
    openings: dict[Relation, re.Pattern[str]]
    words: dict[str, re.Pattern[str]]
    function_words: frozenset[str]


@cache
def forms() -> Forms:
    """The forms of causal_forms.toml."""
    table = tomllib.loads(files("agents").joinpath("causal_forms.toml").read_text(encoding="utf-8"))
    labels = {
        role: re.compile(rf"{_LEAD}((?:{'|'.join(names)}))\**(?:\s*\(.{{0,40}}?\))?\**\s*(?:[:：]|\n|$)", re.IGNORECASE)
        for role, names in table["labels"].items()
    }
    openings = {
        Relation(name): re.compile(rf"{_LEAD}((?:{'|'.join(phrases)}))(?:(?![A-Za-z])|$)", re.IGNORECASE)
        for name, phrases in table["openings"].items()
    }
    words = {
        kind: re.compile(rf"(?<![A-Za-z])(?:{'|'.join(phrases)})(?![A-Za-z])", re.IGNORECASE)
        for kind, phrases in table["words"].items()
    }
    return Forms(labels, openings, words, frozenset(table["function"]["words"].split()))


def label(text: str) -> tuple[str, str]:
    """The role that the label of `text` gives it, and the label as written; two empty strings without one."""
    for role, pattern in forms().labels.items():
        if found := pattern.match(text):
            return role, found[1]
    return "", ""


def opening(text: str) -> tuple[Relation | None, str]:
    """How the beginning of `text` follows from what came before, and its words; None without such words."""
    for relation, pattern in forms().openings.items():
        if found := pattern.match(text):
            return relation, found[1]
    return None, ""


def tells(text: str, kind: str) -> int:
    """How many words of `kind` (trouble, remedy, possible, hindered) `text` holds."""
    return len(forms().words[kind].findall(text))
