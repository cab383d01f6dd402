"""Changing what is stored: remember, correct, forget, and the history that they leave behind."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from librarian.contracts.fields import (
    Agent,
    Attributes,
    Confidence,
    ConfirmToken,
    Domain,
    EvidenceRefs,
    FactType,
    Importance,
    Kind,
    Object,
    OccurredAt,
    PersonId,
    Predicate,
    Reason,
    Source,
    Subject,
    Tags,
    Text,
    Time,
    TypeOfMemory,
    Uid,
    ValidFrom,
    ValidTo,
)
from librarian.contracts.filters import Filters
from librarian.contracts.items import ItemOut

Outcome = Literal["added", "updated", "unchanged"]


class RememberInput(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """One thing to keep.

    A memory needs `text`. With kind "fact", give `text`, or `subject`, `predicate` and `object`. `evidence` names the
    items (uid), messages (message_id) or lines of files (`file:PATH#L12-L20`) that support it. The same content twice
    is stored once.
    """

    kind: Annotated[
        Literal["memory", "fact"], Meta(description="What it is: a memory, or a statement that evidence supports.")
    ] = "memory"
    text: Text | None = None
    uid: Uid | None = None
    domain: Domain | None = None
    tags: Tags = []
    # memory
    type: TypeOfMemory | None = None
    importance: Importance | None = None
    agent: Agent | None = None
    source: Source | None = None
    occurred_at: OccurredAt | None = None
    evidence: EvidenceRefs = []
    # fact
    subject: Subject | None = None
    predicate: Predicate | None = None
    object: Object | None = None
    person_id: PersonId | None = None
    fact_type: FactType | None = None
    confidence: Confidence | None = None
    valid_from: ValidFrom | None = None
    valid_to: ValidTo | None = None


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
    subject: Subject | None = None
    predicate: Predicate | None = None
    object: Object | None = None
    attributes: Attributes | None = None
    confidence: Confidence | None = None
    valid_from: ValidFrom | None = None
    evidence: EvidenceRefs = []
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

    uids: Annotated[list[Uid], Meta(min_length=1, max_length=1000, description="The items by uid.")] | None = None
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


class PreviewItem(Struct, kw_only=True):
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
    sample: list[PreviewItem] = msgspec.field(default_factory=list)
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
    revised_at: Time


class RevisionList(Struct, kw_only=True):
    """The history of one item, newest first."""

    uid: str
    revisions: list[RevisionOut]
