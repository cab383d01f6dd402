"""Changing what is stored: remember, correct, forget, and the history that they leave behind."""

from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from librarian.contracts.filters import Filters
from librarian.contracts.items import (
    MAX_TEXT_CHARS,
    Attribute,
    ItemOut,
    Kind,
    MemoryType,
    ShortText,
    Text,
    Uid,
)

Outcome = Literal["added", "updated", "unchanged"]
ConfirmToken = Annotated[str, Meta(min_length=1, max_length=200)]
Reason = Annotated[str, Meta(min_length=1, max_length=4000)]


class RememberInput(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """One thing to keep.

    A memory needs `text`. With kind "fact", give `text`, or `subject`, `predicate` and `object`; `evidence` names the
    items (uid) or messages (message_id) that support it. The same content twice is stored once.
    """

    kind: Literal["memory", "fact"] = "memory"
    text: Text | None = None
    uid: Uid | None = None
    domain: ShortText | None = None
    tags: Annotated[list[ShortText], Meta(max_length=100)] = []
    # memory
    type: MemoryType | None = None
    importance: Annotated[int, Meta(ge=1, le=10)] | None = None
    agent: ShortText | None = None
    source: ShortText | None = None
    occurred_at: datetime | None = None
    # fact
    subject: ShortText | None = None
    predicate: ShortText | None = None
    object: Annotated[str, Meta(max_length=MAX_TEXT_CHARS)] | None = None
    person_id: ShortText | None = None
    fact_type: ShortText | None = None
    confidence: Annotated[float, Meta(ge=0, le=1)] | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    evidence: Annotated[list[ShortText], Meta(max_length=1000)] = []


class PutOutput(Struct, kw_only=True):
    """The stored item, and whether it was added, updated, or there already."""

    outcome: Outcome
    item: ItemOut


class Correction(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """What is true instead.

    A fact is superseded by a new one from `valid_from` on (default: now): what is not given is taken over from the old
    one, except its evidence and validity. A memory's text is replaced and its old text kept as a revision; only `text`
    and `reason` mean something for it. Messages are records of what was said and are not corrected.
    """

    text: Text | None = None
    subject: ShortText | None = None
    predicate: ShortText | None = None
    object: Annotated[str, Meta(max_length=MAX_TEXT_CHARS)] | None = None
    attributes: dict[str, Attribute] | None = None
    confidence: Annotated[float, Meta(ge=0, le=1)] | None = None
    valid_from: datetime | None = None
    evidence: Annotated[list[ShortText], Meta(max_length=1000)] = []
    reason: Reason | None = None


class CorrectInput(Correction, kw_only=True):
    """The item to correct, and what is true instead."""

    uid: Uid


class CorrectOutput(Struct, kw_only=True):
    """The item that holds now; `superseded` is the uid of the fact it replaces, null for a memory."""

    item: ItemOut
    superseded: str | None


class DeleteInput(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """What to delete: the items with these uids, or all that pass the filters; both given, both must hold.

    Without `confirm_token` nothing is deleted: the answer is a preview with the token to send.
    """

    uids: Annotated[list[Uid], Meta(min_length=1, max_length=1000)] | None = None
    filters: Filters | None = None
    confirm_token: ConfirmToken | None = None


class DeleteCounts(Struct, kw_only=True):
    """What a deletion takes away: items by kind, and what hangs on them."""

    items: int = 0
    by_kind: dict[Kind, int] = msgspec.field(default_factory=dict)
    edges: int = 0
    evidence_links: int = 0
    revisions: int = 0
    embeddings: int = 0


class ItemBrief(Struct, kw_only=True):
    """One item in a preview."""

    uid: str
    kind: Kind
    name: str


class DeleteOutput(Struct, kw_only=True):
    """A preview (`deleted` false: what would go, the first items, the token), or what went.

    `kept` counts items that were changed after the preview and therefore stay.
    """

    deleted: bool
    counts: DeleteCounts
    sample: list[ItemBrief] = msgspec.field(default_factory=list)
    confirm_token: str | None = None
    kept: int = 0


class RevisionOut(Struct, kw_only=True):
    """What an item said before one change: the properties it had, who changed it, why and when."""

    revision_id: str
    version: int
    name: str
    text: str
    properties: dict[str, Any]
    reason: str
    actor: str | None
    revised_at: datetime


class RevisionList(Struct, kw_only=True):
    """The history of one item, newest first."""

    uid: str
    revisions: list[RevisionOut]
