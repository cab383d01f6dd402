"""Values of causal reading: the compared texts, the findings, and their confidence."""

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Literal

ACCEPTED_FROM = 0.7
"""Minimum confidence of an accepted typed edge; below it is proposed to a human."""


class Relation(StrEnum):
    """The relation of an edge from source to target. RELATES_TO has no direction: it makes no causal claim."""

    CAUSES = "CAUSES"
    BLOCKS = "BLOCKS"
    ENABLES = "ENABLES"
    RELATES_TO = "RELATES_TO"


CAUSAL = frozenset({Relation.CAUSES, Relation.BLOCKS, Relation.ENABLES})
"""The typed relations, which need evidence."""


class Direction(StrEnum):
    """The text that is the edge's source: the cause, the hindrance, or the condition."""

    FORWARD = "first_to_second"
    BACKWARD = "second_to_first"
    NONE = "none"

    def turned(self) -> "Direction":
        """Return the direction of the same edge with the two texts swapped."""
        turned = {Direction.FORWARD: Direction.BACKWARD, Direction.BACKWARD: Direction.FORWARD}
        return turned.get(self, self)


@dataclass(frozen=True, slots=True)
class Note:
    """A text to compare. `uid` is its name in others' references; `occurred_at` is the time of its event."""

    text: str
    uid: str = ""
    occurred_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """The relation of two texts; `relation` is None if nothing is found.

    A typed relation has a quote from each end, a literal part of that text (from the context where `cue` occurs in
    one), the `cue` that names the relation, and `confidence`, the share of such readings that are right, 0-1.
    """

    relation: Relation | None = None
    direction: Direction = Direction.NONE
    confidence: float = 0.0
    source_quote: str = ""
    target_quote: str = ""
    cue: str = ""
    reason: str = ""
    method: Literal["rule", "llm"] = "rule"

    @property
    def causal(self) -> bool:
        """Whether it claims a cause, a hindrance or a condition."""
        return self.relation in CAUSAL

    @property
    def accepted(self) -> bool:
        """Whether the edge may be written without a human decision."""
        return self.relation is not None and self.confidence >= ACCEPTED_FROM

    def turned(self) -> "Verdict":
        """Return the verdict with the texts swapped; without a direction the first text counts as the source."""
        if self.direction is not Direction.NONE:
            return replace(self, direction=self.direction.turned())
        return replace(self, source_quote=self.target_quote, target_quote=self.source_quote)


NOTHING = Verdict(reason="nothing connects the two texts")
