"""The change feed on the wire."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from librarian.base.fields import EdgeId, EdgeType, Time, Uid

ChangeAction = Literal[
    "added",
    "changed",
    "ended",
    "superseded",
    "reopened",
    "forgotten",
    "deleted",
    "proposed",
    "accepted",
    "rejected",
]
ChangedKind = Literal["message", "fact", "memory", "file_chunk", "file", "edge"]
ChangeCursor = Annotated[
    str,
    Meta(
        pattern=r"^(0|[0-9]{1,18}-[0-9a-f]{8})$",
        description="A place in the feed: the `cursor` of a change or of a page, or 0 for the beginning.",
    ),
]


class ChangeQuery(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """Which changes to read: those behind `after`; without it none, and the answer says where the feed stands."""

    after: ChangeCursor | None = None
    limit: Annotated[int, Meta(ge=1, le=500, description="How many changes a page has at most.")] = 100


class ChangeOut(Struct, kw_only=True, omit_defaults=True):
    """What became of one thing; its text is read with the item, where there still is one.

    `seq` counts the changes of the namespace without a gap, in the order in which they were committed. `uid` is that of
    an item, the path of a file or the id of an edge; an edge also says its `type` and which items it connects.
    """

    seq: int
    cursor: ChangeCursor
    at: Time
    action: ChangeAction
    kind: ChangedKind
    uid: Uid | EdgeId
    type: EdgeType | Literal["SUPERSEDES"] | None = None
    source: Uid | None = None
    target: Uid | None = None


class ChangeList(Struct, kw_only=True):
    """One page in the order of `seq`; `cursor` is the place behind it, and `more` says that changes follow."""

    changes: list[ChangeOut]
    cursor: ChangeCursor
    more: bool


class FeedPosition(Struct, kw_only=True):
    """Where a stream of changes begins."""

    cursor: ChangeCursor
