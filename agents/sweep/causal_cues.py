"""Finds the words that name a cause, a condition or a hindrance, and what guards against believing them."""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from agents.sweep.causal_types import Relation

_LATIN_WORD = re.compile(r"[A-Za-z0-9_]")
# "not because" denies; "not only because" and "cannot go on because" do not.
_NEGATOR = re.compile(
    r"(?:\b(?:not|never|no|cannot|without|neither|nor|hardly|no longer|rather than|instead of)|n['’]t)"
    r"\s+(?:(?:been|be|have|directly|actually|necessarily|really|a|the|itself|always|yet)\s+){0,2}$",
    re.IGNORECASE,
)
# 引き起こしていない; 原因は X ではない, up to the end of the sentence.
_NEGATED_BEHIND = re.compile(r"^\S{0,6}(?:なかった|ません|ない)|^[^。.\n]{0,30}(?:ではな|ではあり|じゃな)")
_HYPOTHETICAL = re.compile(
    r"\b(?:might|may|could|would|should|whether|perhaps|possibly|probably|presumably|suspect\w*|hypothes\w+|suppose\w*"
    r"|if|unless|in theory|unclear|likely|潜在的)\W+(?:\w+\W+){0,3}$",
    re.IGNORECASE,
)
_HYPOTHETICAL_BEHIND = re.compile(r"^[^。.\n]{0,12}(?:かもしれ|可能性|だろう|でしょう|と思われ)|^[^.\n]{0,120}\?\s*$")
_REACH = 48


@dataclass(frozen=True, slots=True)
class Cue:
    """One kind of wording: see the head of causal_cues.toml for the fields."""

    name: str
    relation: Relation
    cause_follows: bool
    opens: bool
    weak: bool
    ends: bool
    pattern: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class CueHit:
    """A cue at `start`-`end` of a text, as it is written there."""

    cue: Cue
    start: int
    end: int
    words: str


@cache
def cues() -> tuple[Cue, ...]:
    """The cues of causal_cues.toml."""
    text = files("agents.sweep").joinpath("causal_cues.toml").read_text(encoding="utf-8")
    return tuple(_cue(entry) for entry in tomllib.loads(text)["cue"])


def find_cues(text: str, *, weak: bool = True) -> list[CueHit]:
    """The cues of `text` in order; of overlapping ones the longest. `weak=False` leaves the weak ones out."""
    found = sorted(_matches(text), key=lambda hit: (hit.start - hit.end, hit.cue.weak))
    taken: list[CueHit] = []
    for hit in found:
        if all(hit.end <= other.start or hit.start >= other.end for other in taken):
            taken.append(hit)
    return sorted((hit for hit in taken if weak or not hit.cue.weak), key=lambda hit: hit.start)


def negated(text: str, hit: CueHit) -> bool:
    """Whether `text` denies what the cue says: "not because", "did not cause", 原因ではない."""
    before = text[max(0, hit.start - _REACH) : hit.start]
    return bool(_NEGATOR.search(before) or _NEGATED_BEHIND.match(text[hit.end : hit.end + _REACH]))


def hypothetical(text: str, hit: CueHit) -> bool:
    """Whether `text` only supposes or asks what the cue says: "might cause", "would have prevented", "…?"."""
    before = text[max(0, hit.start - _REACH) : hit.start]
    return bool(_HYPOTHETICAL.search(before) or _HYPOTHETICAL_BEHIND.match(text[hit.end :]))


def _matches(text: str) -> Iterator[CueHit]:
    for cue in cues():
        for match in cue.pattern.finditer(text):
            yield CueHit(cue, match.start(), match.end(), match[0])


def _cue(entry: dict[str, Any]) -> Cue:
    return Cue(
        name=entry["name"],
        relation=Relation(entry.get("relation", Relation.CAUSES)),
        cause_follows=entry["follows"] == "cause",
        opens=entry.get("opens", False),
        weak=entry.get("weak", False),
        ends=entry.get("ends", False),
        pattern=re.compile("|".join(_bordered(phrase) for phrase in entry["phrases"]), re.IGNORECASE),
    )


def _bordered(phrase: str) -> str:
    """The phrase between word borders where it begins or ends in Latin letters."""
    latin = _LATIN_WORD.search(phrase) is not None and phrase.isascii()
    opening = r"\b" if latin and phrase[0] not in ",-=" else ""
    closing = r"\b" if latin and phrase[-1] not in ">:" else ""
    return f"{opening}(?:{phrase}){closing}"
