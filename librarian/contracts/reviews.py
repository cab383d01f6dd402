"""Reviews on the wire: what sweeps propose, and what a human has decided about it."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from librarian.contracts.causal import ItemBrief
from librarian.contracts.edges import EdgeOut
from librarian.contracts.fields import Cursor, MemoryType, PageSize, Reason, Time, TypeOfMemory

ReviewSort = Literal["edge", "flag", "merge"]
ReviewState = Literal["open", "unreviewed", "accepted", "rejected"]
ReviewSorts = Annotated[list[ReviewSort], Meta(min_length=1, max_length=3, description="Only these: all by default.")]
ReviewStates = Annotated[
    list[ReviewState],
    Meta(
        min_length=1,
        max_length=4,
        description="`open` (the default): proposed and undecided; `unreviewed`: edges that a rule or model has drawn "
        "and no human has seen; `accepted` or `rejected`: by a human.",
    ),
]
ReviewId = Annotated[str, Meta(min_length=1, max_length=200, description="Id of a review, as the list shows it.")]
Verdict = Annotated[Literal["accept", "reject"], Meta(description="Whether it is right.")]


class ReviewQuery(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """Which reviews to list: edges by edge_id, then flags and merges in the order of the sweeps that propose them."""

    sorts: ReviewSorts | None = None
    states: ReviewStates | None = None
    limit: PageSize = 50
    cursor: Cursor | None = None


class ReviewInput(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """A decision. `type` is what an accepted flag makes of the memory, by default what the sweep proposes."""

    verdict: Verdict
    reason: Reason | None = None
    type: TypeOfMemory | None = None


class ReviewOut(Struct, kw_only=True):
    """Something that a human may decide about, or has.

    `edge`: from `item` to `other`, see `edge` for its type and quotes. `flag`: `item` is of type `old_type`, and the
    sweep takes it for a `new_type`; `given_type` is the one that a human has given it. `merge`: `item` says the same as
    `other`, the fuller one, into which it goes.
    `reason` is why it is proposed, `review_reason` why it was decided so.
    """

    review_id: str
    sort: ReviewSort
    state: ReviewState
    item: ItemBrief
    other: ItemBrief | None
    edge: EdgeOut | None
    old_type: MemoryType | None
    new_type: MemoryType | None
    given_type: MemoryType | None
    confidence: float | None
    reason: str | None
    run_id: str | None
    reviewed_by: str | None
    reviewed_at: Time | None
    review_reason: str | None


class ReviewList(Struct, kw_only=True):
    """One page; `next_cursor` is null on the last one."""

    reviews: list[ReviewOut]
    next_cursor: str | None


class ReviewOutput(Struct, kw_only=True):
    """A review as it stands now; `decided` is false where the same was decided before.

    `notes` says when an accepted edge contradicts another one.
    """

    decided: bool
    review: ReviewOut
    notes: list[str] = []


class CausalLabel(Struct, kw_only=True):
    """What a human says of two texts, as `librarian eval causal` reads it."""

    id: str
    text_a: str
    text_b: str
    relation: str
    acceptable: list[str]
    direction: str
    pair_kind: str
    repo: str
    proposed: str
    confidence: float | None
    method: str
    signal: list[str]
    reviewed_by: str
    reviewed_at: Time | None
    reason: str | None


class TypeLabel(Struct, kw_only=True):
    """The type that a human gives a text, as `librarian eval types` reads it."""

    id: str
    type: MemoryType
    text: str
    repo: str
    proposed: MemoryType | None
    confidence: float | None
    reviewed_by: str
    reviewed_at: Time | None
    reason: str | None


class MergeLabel(Struct, kw_only=True):
    """Whether a human says that two texts say the same."""

    id: str
    text_a: str
    text_b: str
    same: bool
    repo: str
    confidence: float | None
    reviewed_by: str
    reviewed_at: Time | None
    reason: str | None
