"""Wire contracts of causal questions: causes, effects, paths, contradictions and cycles."""

from typing import Annotated, Literal

from msgspec import Meta, Struct, structs

from librarian.base.fields import AsOf, Kind, OccurredFrom, OccurredTo, PersonId, SourceUid, TargetUid, Time, Uid
from librarian.items.contracts import EdgeOut, EdgeTypes

CausalType = Literal["CAUSES", "BLOCKS", "ENABLES"]
CausalTypes = Annotated[
    list[CausalType],
    Meta(min_length=1, max_length=3, description="Follow edges of these types; by default those of the question."),
]
AskedUid = Annotated[Uid, Meta(description="uid of the item in question.")]
MaxDepth = Annotated[int, Meta(ge=1, le=10, description="Maximum distance from the item in edges, 1 to 10.")]
MaxItems = Annotated[int, Meta(ge=1, le=500, description="Maximum number of items, nearest first.")]
MaxFindings = Annotated[int, Meta(ge=1, le=500, description="Maximum number of results.")]
IncludeProposed = Annotated[bool, Meta(description="Also follow proposed edges that are not accepted yet.")]
Directed = Annotated[bool, Meta(description="Only follow edges the way they point, from source to target.")]


class CausalInput(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """The item in question, and how far to search; items outside the time range are not passed through.

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
    """The item to search around, and how far, following edges in both directions."""

    uid: AskedUid
    types: EdgeTypes | None = None
    max_depth: MaxDepth = 2
    limit: MaxItems = 50
    include_proposed: IncludeProposed = False
    occurred_from: OccurredFrom | None = None
    occurred_to: OccurredTo | None = None


class PathQuery(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """The ends of a path to find. RELATES_TO is followed only if `types` includes it."""

    source: SourceUid
    target: TargetUid
    types: EdgeTypes | None = None
    max_depth: MaxDepth = 6
    directed: Directed = False
    include_proposed: IncludeProposed = False
    occurred_from: OccurredFrom | None = None
    occurred_to: OccurredTo | None = None


class ContradictionQuery(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """The contradictions to list; `person_id` and `as_of` filter facts."""

    person_id: PersonId | None = None
    as_of: AsOf | None = None
    limit: MaxFindings = 50
    include_proposed: IncludeProposed = False


class CycleQuery(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """The cycles to list."""

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
        """Return its reference."""
        return structs.replace(self, name="", text="", occurred_at=None)


class ReachedItem(ItemBrief, kw_only=True):
    """An item found `depth` edges away, by the shortest path, or the most confident of equally short ones.

    `path` holds the edge_ids from the item in question; `confidence` is the product of theirs. `is_end`: no edge leads
    further (a root cause, a final effect); null where that was not checked.
    """

    depth: int
    confidence: float
    path: list[str]
    is_end: bool | None


class CausalOutput(Struct, kw_only=True):
    """The items found, nearest and most confident first, and the edges between them with their quotes.

    `more`: a limit of depth, number or time cut the search off.
    """

    item: ItemBrief
    types: list[str]
    items: list[ReachedItem]
    edges: list[EdgeOut]
    more: bool


class PathOutput(Struct, kw_only=True):
    """The shortest path, or the most confident of equally short ones: its items from source to target and their edges.

    Both are empty if none was found; `more`: a limit cut the search off, so there may be one after all.
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
    """Two facts about one person, of one type and relationship, that name different objects for the same time."""

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
    """The contradictions found; `more`: there may be further ones."""

    facts: list[FactContradiction]
    edges: list[EdgeContradiction]
    more: bool


class CycleOut(Struct, kw_only=True):
    """Items that lead back to the first: the edge at each index leaves the item at that index. `confidence` is the
    product of the edges'.
    """

    items: list[ItemBrief]
    edges: list[EdgeOut]
    confidence: float


class CycleList(Struct, kw_only=True):
    """The shortest cycle through each item that is on one; `more`: there may be further ones."""

    cycles: list[CycleOut]
    more: bool
