"""Classification of a memory's type. Pure: text in, verdict with its evidence out.

A text's own markers decide first: one strong marker, or two signs of one type and none of another. Otherwise the
trained head does. A type below ACCEPTED is a guess for human review.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from librarian_agents.sweep.causal_terms import terms
from librarian_agents.sweep.features import PLACEHOLDERS, Features, features
from librarian_agents.sweep.markers import Marker, markers
from librarian_agents.sweep.memory_types import MemoryType
from librarian_agents.sweep.type_head import Embedding, head_for, joint_probabilities

ACCEPTED = 0.7
"""Minimum confidence of a type that is written without a human decision."""

UNSURE = 0.2
"""Below this probability of the likeliest type a text's type is unknown; seven equal ones have .14."""

STRONG_CONFIDENCE = 0.92
SIGNS_CONFIDENCE = 0.88
"""Precision of such markers in the labelled texts (docs/memory-types.md), minus a margin for the small sample."""

_ENOUGH_SIGNS = 2

Method = Literal["marker", "head", "none", "llm"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The type of a text, and its confidence (0..1; of verdicts at .7, 7 in 10 or more are right).

    `method` is the deciding part: markers, the trained head, nothing (the text has no signs, or the head is unsure), or
    a language model. `evidence` quotes the markers, or the words with the highest weights for the type. `probabilities`
    are the head's, before calibration; empty if it was not used.
    """

    type: MemoryType
    confidence: float
    method: Method
    evidence: tuple[str, ...] = ()
    probabilities: Mapping[MemoryType, float] | None = None

    @property
    def accepted(self) -> bool:
        """Whether the type may be written without a human decision; an unknown type never needs to be."""
        return self.confidence >= ACCEPTED and self.type is not MemoryType.UNKNOWN

    @property
    def reason(self) -> str:
        """Return the reason for the type in plain words."""
        if self.type is MemoryType.UNKNOWN:
            return "nothing in the text says which type it is"
        quotes = ", ".join(f'"{quote.strip()[:40]}"' for quote in self.evidence[:3])
        if self.method == "llm":
            return f"a language model reads it as {self.type}"
        if self.method == "marker":
            return f"the text says {self.type}: {quotes}"
        return f"it reads like {self.type}: {quotes}" if quotes else f"it reads like {self.type}"


def classify_memory(content: str, embedding: Embedding | None = None) -> tuple[MemoryType, float]:
    """Return the type of `content` and its confidence (0..1).

    `embedding` helps if it is in a space that a head was trained in; any other is ignored.
    """
    verdict = judge(content, embedding)
    return verdict.type, verdict.confidence


def judge(content: str, embedding: Embedding | None = None) -> Verdict:
    """Return the type of `content` with its evidence. Never raises for any text."""
    if not any(character.isalnum() for character in content):
        return Verdict(MemoryType.UNKNOWN, 1.0, "none")
    found = markers(content)
    if decided := decided_by(found):
        return decided
    return _weighed(features(content), embedding)


def decided_by(found: Sequence[Marker]) -> Verdict | None:
    """Return the verdict of the markers alone; None if they are too few or contradictory."""
    strong = [marker for marker in found if marker.strong]
    if strong:
        return Verdict(strong[0].type, STRONG_CONFIDENCE, "marker", (strong[0].quote,))
    quotes = defaultdict(list)
    for marker in found:
        quotes[marker.type].append(marker.quote)
    if len(quotes) != 1:
        return None
    ((type_, said),) = quotes.items()
    return Verdict(type_, SIGNS_CONFIDENCE, "marker", tuple(said)) if len(said) >= _ENOUGH_SIGNS else None


def _weighed(seen: Features, embedding: Embedding | None) -> Verdict:
    """Return the verdict of the head of words, combined with that of the embedding's space if there is one."""
    words, head = head_for(None), head_for(embedding.space if embedding else None)
    probabilities = joint_probabilities([words] if head is words else [words, head], seen, embedding)
    likeliest = max(probabilities, key=lambda type_: probabilities[type_])
    confidence = head.confidence(probabilities[likeliest], laid_out=seen.laid_out)
    if probabilities[likeliest] < UNSURE:
        return Verdict(MemoryType.UNKNOWN, confidence, "none", probabilities=probabilities)
    evidence = _readable(words.telling(seen, likeliest, count=12))
    return Verdict(likeliest, confidence, "head", evidence, probabilities)


def _readable(names: Sequence[str]) -> tuple[str, ...]:
    """Return the first three of a head's features that are content words found in the text."""
    words = (name for name in names if ":" not in name and PLACEHOLDERS.isdisjoint(name.split()) and terms(name))
    return tuple(islice(words, 3))
