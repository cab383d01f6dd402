"""The report of `librarian eval causal`."""

import msgspec
from msgspec import Struct


class EdgeScores(Struct, kw_only=True):
    """How well edges are found. An edge is right when its relation and its direction are.

    `edges` are what the data holds, `claimed` what was found, `right` what was found and is so. `precision` is
    right / claimed, `recall` right / edges; either is null when there is nothing to divide by.
    """

    edges: int
    claimed: int
    right: int
    precision: float | None
    recall: float | None


class KindScores(EdgeScores, kw_only=True):
    """Scores of the pairs of one kind, of which `pairs_without` have no causal edge, `false_alarms` of them claimed."""

    pairs: int
    pairs_without: int
    false_alarms: int


class CausalEvalReport(Struct, kw_only=True):
    """Typed edges (CAUSES, BLOCKS, ENABLES) found between the two texts of each pair, proposed ones included.

    `accepted` counts only those sure enough to be written without a human. `baselines` are scored on the same pairs:
    every pair claimed as CAUSES from the first to the second text, and every unmistakable cue believed unweighed.
    `detection` is present for labelled sentences: whether a sentence tells of a cause at all.
    """

    file: str
    pairs: int
    precision: float | None
    recall: float | None
    typed: EdgeScores
    accepted: EdgeScores
    relations: dict[str, EdgeScores]
    pair_kinds: dict[str, KindScores]
    baselines: dict[str, EdgeScores]
    detection: EdgeScores | None = None
    notes: list[str] = msgspec.field(default_factory=list)
