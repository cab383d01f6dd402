"""Causal questions on the wire: what led to an item, what follows from it, and what does not fit together."""

from typing import Annotated, Literal

from msgspec import Meta, Struct, structs

from librarian.base.fields import AsOf, Kind, OccurredFrom, OccurredTo, PersonId, SourceUid, TargetUid, Time, Uid
from librarian.items.contracts import EdgeOut, EdgeTypes

CausalType = Literal["CAUSES", "BLOCKS", "ENABLES"]
CausalTypes = Annotated[
    list[CausalType],
    Meta(min_length=1, max_length=3, description="Follow edges of these types; by default what the question names."),
]
AskedUid = Annotated[Uid, Meta(description="uid of the item that is asked about.")]
MaxDepth = Annotated[int, Meta(ge=1, le=10, description="How many edges away from the item it goes, 1 to 10.")]
MaxItems = Annotated[int, Meta(ge=1, le=500, description="How many items are found at most, the nearest first.")]
MaxFindings = Annotated[int, Meta(ge=1, le=500, description="How many are shown at most.")]
IncludeProposed = Annotated[bool, Meta(description="Follow edges too that are proposed and that nobody has accepted.")]
Directed = Annotated[bool, Meta(description="Only follow edges the way they point, from source to target.")]


class CausalInput(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """Which item is asked about, and how far to look; items that happened outside of the time are not passed through.

    Edges are the accepted ones unless `include_proposed`, and never rejected ones.
    """

    uid: AskedUid
    types: CausalTypes | None = None
    max_depth: MaxDepth = 5
    limit: MaxItems = 50
    include_proposed: IncludeProposed = False
    occurred_from: OccurredFrom | None = None
    occurred_to: OccurredTo | None = None


class NeighbourhoodQuery(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """Around which item to look, and how far, whichever way edges point."""

    uid: AskedUid
    types: EdgeTypes | None = None
    max_depth: MaxDepth = 2
    limit: MaxItems = 50
    include_proposed: IncludeProposed = False
    occurred_from: OccurredFrom | None = None
    occurred_to: OccurredTo | None = None


class PathQuery(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """Between which items to look for a path. RELATES_TO is followed only if `types` says so."""

    source: SourceUid
    target: TargetUid
    types: EdgeTypes | None = None
    max_depth: MaxDepth = 6
    directed: Directed = False
    include_proposed: IncludeProposed = False
    occurred_from: OccurredFrom | None = None
    occurred_to: OccurredTo | None = None


class ContradictionQuery(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """Which contradictions to show; `person_id` and `as_of` are about facts."""

    person_id: PersonId | None = None
    as_of: AsOf | None = None
    limit: MaxFindings = 50
    include_proposed: IncludeProposed = False


class CycleQuery(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """Which cycles to show."""

    types: CausalTypes | None = None
    limit: MaxFindings = 50
    include_proposed: IncludeProposed = False


class ItemBrief(Struct, kw_only=True):
    """An item in a graph; `text` is the start of its text."""

    uid: str
    kind: Kind
    name: str
    type: str | None
    occurred_at: Time | None
    text: str

    def without_content(self) -> "ItemBrief":
        """Return which item it is."""
        return structs.replace(self, name="", text="", occurred_at=None)


class ReachedItem(ItemBrief, kw_only=True):
    """An item that was found `depth` edges away, by the shortest path, and the surest of equally short ones.

    `path` is the edge_ids of that path from the item that is asked about; `confidence` the product of theirs. `is_end`:
    no edge leads on from here (a root cause, a last effect); null where that was not looked at.
    """

    depth: int
    confidence: float
    path: list[str]
    is_end: bool | None


class CausalOutput(Struct, kw_only=True):
    """What was found, the nearest and surest first, and the edges between it with their quotes.

    `more`: a limit of depth, number or time of the search cut something off.
    """

    item: ItemBrief
    types: list[str]
    items: list[ReachedItem]
    edges: list[EdgeOut]
    more: bool


class PathOutput(Struct, kw_only=True):
    """The shortest path, the surest of equally short ones: its items from source to target and the edges between them.

    Both are empty where there is none; `more` says that a limit cut the search off, so that there may be one after all.
    """

    items: list[ItemBrief]
    edges: list[EdgeOut]
    confidence: float | None
    more: bool


class ContradictingFact(Struct, kw_only=True):
    """One side of a contradiction between facts."""

    uid: str
    object: str
    text: str
    confidence: float | None
    valid_from: Time | None
    valid_to: Time | None


class FactContradiction(Struct, kw_only=True):
    """Two facts about one person, of one type and relationship, that name different objects for one time."""

    person_id: str
    fact_type: str | None
    relationship_type: str
    first: ContradictingFact
    second: ContradictingFact


class EdgeContradiction(Struct, kw_only=True):
    """One item both causes and blocks another."""

    source: ItemBrief
    target: ItemBrief
    edges: list[EdgeOut]


class ContradictionList(Struct, kw_only=True):
    """What contradicts itself; `more` says that there may be further contradictions."""

    facts: list[FactContradiction]
    edges: list[EdgeContradiction]
    more: bool


class CycleOut(Struct, kw_only=True):
    """Items that lead back to the first: the edge at each place leaves the item at the same place. `confidence` is the
    product of the edges'.
    """

    items: list[ItemBrief]
    edges: list[EdgeOut]
    confidence: float


class CycleList(Struct, kw_only=True):
    """The shortest cycle through each item that is on one; `more` says that there may be further cycles."""

    cycles: list[CycleOut]
    more: bool
