"""Typed edges on the wire."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from librarian.contracts.fields import (
    Cursor,
    EdgeId,
    EdgeType,
    PageSize,
    SourceUid,
    TargetUid,
    Time,
    TypeOfEdge,
    Uid,
)

EdgeState = Literal["accepted", "proposed", "rejected"]
EdgeMethod = Literal["rule", "llm", "human"]
EdgeTypes = Annotated[list[EdgeType], Meta(min_length=1, max_length=4, description="Only edges of these types.")]
EdgeStates = Annotated[list[EdgeState], Meta(min_length=1, max_length=3, description="Only edges in these states.")]
EdgeMethods = Annotated[list[EdgeMethod], Meta(min_length=1, max_length=3, description="Only edges drawn this way.")]
EitherEnd = Annotated[Uid, Meta(description="Only edges with this item at either end.")]


class EdgeOut(Struct, kw_only=True):
    """One typed edge; RELATES_TO has no direction and runs from the lower to the higher uid.

    `reason` says why the two are connected, `review_reason` why the human who reviewed it has decided so.
    """

    edge_id: str
    source: str
    target: str
    type: EdgeType
    state: EdgeState
    method: EdgeMethod
    confidence: float
    reason: str | None
    source_quote: str | None
    target_quote: str | None
    run_id: str | None
    created_at: Time | None
    reviewed_by: str | None
    reviewed_at: Time | None
    model: str | None
    prompt_version: str | None
    review_reason: str | None = None


class LinkOutput(Struct, kw_only=True):
    """The edge as it stands; `created` is false when it was there already, proposed or accepted (it is a human's now).

    `notes` says when it contradicts another edge.
    """

    created: bool
    edge: EdgeOut
    notes: list[str] = []


class UnlinkInput(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """The edge to remove: `edge_id`, or `source`, `type` and `target`."""

    edge_id: EdgeId | None = None
    source: SourceUid | None = None
    type: TypeOfEdge | None = None
    target: TargetUid | None = None


class EdgeQuery(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """Which edges to list, by edge_id; every given condition must hold.

    `uid` is either end; `source` and `target` of a RELATES_TO, which has no direction, match either way round.
    """

    uid: EitherEnd | None = None
    source: SourceUid | None = None
    target: TargetUid | None = None
    types: EdgeTypes | None = None
    states: EdgeStates | None = None
    methods: EdgeMethods | None = None
    limit: PageSize = 50
    cursor: Cursor | None = None


class EdgeList(Struct, kw_only=True):
    """One page; `next_cursor` is null on the last one."""

    edges: list[EdgeOut]
    next_cursor: str | None
