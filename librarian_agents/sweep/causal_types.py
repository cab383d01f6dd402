"""Values of causal reading: what is compared, what is found, how sure it is."""

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Literal

ACCEPTED_FROM = 0.7
"""Confidence from which a typed edge is accepted; below it is proposed to a human."""


class Relation(StrEnum):
    """What an edge from source to target says. RELATES_TO has no direction: it claims no cause."""

    CAUSES = "CAUSES"
    BLOCKS = "BLOCKS"
    ENABLES = "ENABLES"
    RELATES_TO = "RELATES_TO"


CAUSAL = frozenset({Relation.CAUSES, Relation.BLOCKS, Relation.ENABLES})
"""The typed relations, which need evidence."""


class Direction(StrEnum):
    """Which of the two texts is the edge's source: the cause, the hindrance, or what makes possible."""

    FORWARD = "first_to_second"
    BACKWARD = "second_to_first"
    NONE = "none"

    def turned(self) -> "Direction":
        """The same edge when the two texts change places."""
        turned = {Direction.FORWARD: Direction.BACKWARD, Direction.BACKWARD: Direction.FORWARD}
        return turned.get(self, self)


@dataclass(frozen=True, slots=True)
class Note:
    """A text to compare. `uid` names it for others' references; `occurred_at` is when what it tells happened."""

    text: str
    uid: str = ""
    occurred_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What two texts have to do with each other; `relation` is None where nothing is found.

    A typed relation has a quote of either end, each a literal part of that text (of the context where `cue` stands in
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
        """Whether the edge may be written as it is; otherwise a human decides."""
        return self.relation is not None and self.confidence >= ACCEPTED_FROM

    def turned(self) -> "Verdict":
        """The verdict on the same texts in the other order; without a direction the first text counts as the source."""
        if self.direction is not Direction.NONE:
            return replace(self, direction=self.direction.turned())
        return replace(self, source_quote=self.target_quote, target_quote=self.source_quote)


NOTHING = Verdict(reason="nothing connects the two texts")
