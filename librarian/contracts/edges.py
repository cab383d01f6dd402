"""Typed edges on the wire."""

from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta, Struct

from librarian.contracts.items import EdgeType, Uid
from librarian.contracts.listing import Cursor, PageSize

EdgeState = Literal["accepted", "proposed", "rejected"]
EdgeMethod = Literal["rule", "llm", "human"]
EdgeId = Annotated[str, Meta(min_length=1, max_length=200)]


class EdgeOut(Struct, kw_only=True):
    """One typed edge; RELATES_TO has no direction and runs from the lower to the higher uid."""

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
    created_at: datetime | None
    reviewed_by: str | None
    reviewed_at: datetime | None
    model: str | None
    prompt_version: str | None


class LinkOutput(Struct, kw_only=True):
    """The edge as it stands; `created` is false when it was there already (it is a human's now)."""

    created: bool
    edge: EdgeOut


class UnlinkInput(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """The edge to remove: `edge_id`, or `source`, `type` and `target`."""

    edge_id: EdgeId | None = None
    source: Uid | None = None
    type: EdgeType | None = None
    target: Uid | None = None


class EdgeQuery(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """Which edges to list, by edge_id; every given condition must hold. `uid` is either end."""

    uid: Uid | None = None
    source: Uid | None = None
    target: Uid | None = None
    types: Annotated[list[EdgeType], Meta(min_length=1, max_length=4)] | None = None
    states: Annotated[list[EdgeState], Meta(min_length=1, max_length=3)] | None = None
    methods: Annotated[list[EdgeMethod], Meta(min_length=1, max_length=3)] | None = None
    limit: PageSize = 50
    cursor: Cursor | None = None


class EdgeList(Struct, kw_only=True):
    """One page; `next_cursor` is null on the last one."""

    edges: list[EdgeOut]
    next_cursor: str | None
