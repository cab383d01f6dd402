"""Frozen values at the boundary of the graph."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Literal, NamedTuple

# Sentinels: the vector index drops a node that lacks a filter property, so every embedding has a value for each.
UNKNOWN_TIME = datetime(1, 1, 1, tzinfo=UTC)
FOREVER = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)


class Kind(StrEnum):
    """Kind of an item; also the value of its `kind` property."""

    MESSAGE = "message"
    FACT = "fact"
    MEMORY = "memory"
    FILE_CHUNK = "file_chunk"


class EdgeType(StrEnum):
    """Typed edges between items."""

    CAUSES = "CAUSES"
    BLOCKS = "BLOCKS"
    ENABLES = "ENABLES"
    RELATES_TO = "RELATES_TO"


ItemAction = Literal["added", "changed", "ended", "superseded", "reopened", "forgotten", "deleted"]
EdgeAction = Literal["added", "changed", "proposed", "accepted", "rejected", "deleted"]


@dataclass(frozen=True, slots=True)
class Change:
    """A change of an item (by its uid), a file (by its path) or an edge (by its edge_id), without its text.

    An edge has its `type` and the items it connects.
    """

    action: ItemAction | EdgeAction
    kind: str  # message, fact, memory, file or edge
    uid: str
    type: str | None = None
    source: str | None = None
    target: str | None = None


@dataclass(frozen=True, slots=True)
class Stored:
    """Result of one batch, as uids and lines of edges.

    `clashes` are uids that exist with another kind and were left alone, `edges_dangling` the lines of edges with their
    missing uids. `held_back` had been forgotten, as had an end of `edges_held_back`; `resembling` was stored, but may
    reword something forgotten.
    """

    added: Sequence[str]
    updated: Sequence[str]
    unchanged: Sequence[str]
    clashes: Sequence[str]
    edges_added: Sequence[int]
    edges_known: Sequence[int]
    edges_dangling: Mapping[int, Sequence[str]]
    held_back: Sequence[str] = ()
    edges_held_back: Sequence[int] = ()
    resembling: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Provenance:
    """Reason and author of a change of facts and memories, as their revisions record it."""

    reason: str
    actor: str | None = None


@dataclass(frozen=True, slots=True)
class Cascade:
    """Counts of everything a deletion removes. An edge or link between two deleted items counts once."""

    by_kind: Mapping[Kind, int]
    edges: int = 0
    evidence_links: int = 0
    revisions: int = 0
    embeddings: int = 0

    def __add__(self, other: "Cascade") -> "Cascade":
        return Cascade(
            by_kind=Counter(self.by_kind) + Counter(other.by_kind),
            edges=self.edges + other.edges,
            evidence_links=self.evidence_links + other.evidence_links,
            revisions=self.revisions + other.revisions,
            embeddings=self.embeddings + other.embeddings,
        )


@dataclass(frozen=True, slots=True)
class ItemFilter:
    """Items that may be found; None means any. Times are UTC. Expired items only with `expired`.

    Without `as_of`, superseded facts are found only by a search, and only those that held at some time between
    `held_from` and `held_to` (exclusive), if given.
    """

    namespace: str
    kinds: Sequence[Kind] = tuple(Kind)
    types: Sequence[str] | None = None
    authors: Sequence[str] | None = None
    conversation_id: str | None = None
    session_id: str | None = None
    person_id: str | None = None
    domain: str | None = None
    tags: Sequence[str] | None = None
    agent: str | None = None
    path_prefix: str | None = None
    occurred_from: datetime | None = None
    occurred_to: datetime | None = None
    as_of: datetime | None = None
    known_at: datetime | None = None
    held_from: datetime | None = None
    held_to: datetime | None = None
    expired: bool = False
    resembling: bool | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """One row of one arm: `score` is a cosine (-1..1) in the vector arm and BM25 (unbounded) in the others."""

    arm: str
    uid: str
    score: float
    keep: bool


class PoolRow(NamedTuple):
    """Ranking data of a candidate; None where its kind has no such field.

    `when` it occurred; `ends`: when a fact ceases to hold (None: it holds); `falls`: when its support ceases, or
    everything it says is replaced; `sources`: uids of a fact's evidence; `text`: its first 8,000 characters; `cosines`
    to the queried vectors in their order (-1..1, None without a vector or if not asked for). A tuple, as a
    search makes hundreds.
    """

    uid: str
    author: str | None
    conversation: str | None
    session: str | None
    position: int | None
    name: str | None
    caption: str | None
    kind: Kind
    when: datetime | None
    ends: datetime | None
    falls: datetime | None
    subject: str | None
    predicate: str | None
    sources: Sequence[str]
    text: str
    cosines: Sequence[float | None] = ()


class LossReason(StrEnum):
    """Reason why support ceased to stand."""

    SUPERSEDED = "superseded"
    ENDED = "ended"
    CORRECTED = "corrected"
    FORGOTTEN = "forgotten"


@dataclass(frozen=True, slots=True)
class Loss:
    """Loss of an item's support: since when and why. `way` leads from what it cites to what ceased to stand, by uid, or
    by the reference as received if that was forgotten.
    """

    since: datetime
    reason: LossReason
    way: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Impacted:
    """An item that rests on others; `way` as in a loss."""

    uid: str
    kind: str
    name: str = field(repr=False)
    way: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LedTo:
    """An item that the item `source` leads to, according to an accepted edge of this `type`."""

    uid: str
    kind: str
    name: str = field(repr=False)
    type: str
    source: str


@dataclass(frozen=True, slots=True)
class Impact:
    """Effect of an end: items left without support, items that keep other support, and items that edges lead to, whose
    truth does not depend on it.
    """

    unsupported: Sequence[Impacted]
    supported: Sequence[Impacted]
    leads_to: Sequence[LedTo]


@dataclass(frozen=True, slots=True)
class Evidence:
    """An item that supports a fact or memory; for a part of a file its path and the cited lines."""

    uid: str
    message_id: str | None
    author_name: str | None
    text: str
    sent_at: datetime | None
    path: str | None = None
    start_line: int | None = None
    end_line: int | None = None


@dataclass(frozen=True, slots=True)
class Cause:
    """An item that led to another, according to an accepted edge of this type (CAUSES or ENABLES); `text` is its start,
    `confidence` (0..1) the edge's.
    """

    uid: str
    kind: str
    type: str
    text: str = field(repr=False)
    confidence: float


@dataclass(frozen=True, slots=True)
class PendingItem:
    """An item that lacks a vector, with the fields that an encoder reads."""

    namespace: str
    uid: str
    kind: Kind
    version: int
    text: str = field(repr=False)
    caption: str | None = field(repr=False)
    author_name: str | None


@dataclass(frozen=True, slots=True)
class Refusal:
    """An item that gets no vector; `language` is that of its text if the encoder does not read it, else None."""

    item: PendingItem
    language: str | None = None


@dataclass(frozen=True, slots=True)
class Lacking:
    """Work left until a space is complete: items, and the characters of their texts."""

    items: int
    characters: int


@dataclass(frozen=True, slots=True)
class ItemVectors:
    """The passage vectors of one item; stored only while the item still has `version`."""

    namespace: str
    uid: str
    version: int
    vectors: Sequence[Sequence[float]] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Noise:
    """Mean and standard deviation of cosines (-1..1) between queries and unrelated texts; `sampled` is the number of
    stored vectors measured, 0 if the queries' own texts had to serve.
    """

    mean: float
    deviation: float
    sampled: int


@dataclass(frozen=True, slots=True)
class Calibration(Noise):
    """The recorded noise of one space in one language: when it was measured, by which `version` of the method, and how
    many `vectors` the space then held.
    """

    vectors: int
    version: int
    made_at: datetime


@dataclass(frozen=True, slots=True)
class SpaceRecord:
    """An embedding space as recorded; `languages` is None until the encoder was probed, `calibrations` has an entry for
    each language whose noise was measured. `left_at`: when it was last active; None if it is, or never was.
    """

    space: str
    model: str
    dimension: int
    active: bool
    languages: frozenset[str] | None
    calibrations: Mapping[str, Calibration] = field(default_factory=dict)
    left_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class NewSpace:
    """An embedding space to record, with the properties that decide whether two encoders share vectors."""

    space: str
    model: str
    dimension: int
    text_form: str
    normalised: bool
    revision: str


def time_of(text: str) -> datetime:
    """Parse a time that the database wrote as text; the name of a zone after the offset is dropped."""
    return datetime.fromisoformat(text.partition("[")[0])


def native(value: Any) -> Any:
    """Return a driver value as plain Python: Neo4j times become `datetime`, also inside containers."""
    if hasattr(value, "to_native"):
        return value.to_native()
    if isinstance(value, dict):
        return {key: native(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [native(inner) for inner in value]
    return value
