"""What comes in: items and edges as users send them, one object a line or array element."""

from typing import Any

import msgspec
from msgspec import Struct

from librarian.contracts.evidence import Evidence
from librarian.contracts.fields import (
    Agent,
    Attributes,
    AuthorId,
    AuthorName,
    Caption,
    Confidence,
    ConversationId,
    Domain,
    EdgeReason,
    EvidenceRefs,
    FactObject,
    FactType,
    Importance,
    MessageId,
    Name,
    Namespace,
    Object,
    OccurredAt,
    PersonId,
    Position,
    Predicate,
    Quote,
    RelationshipType,
    Role,
    SentAt,
    SessionId,
    Source,
    SourceUid,
    Subject,
    Supersedes,
    Tags,
    TargetUid,
    Text,
    Time,
    TypeOfEdge,
    TypeOfMemory,
    Uid,
    ValidFrom,
    ValidTo,
)


class _Row(Struct, tag_field="kind", forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """Common to every row: which namespace it belongs to (when the caller may choose)."""

    namespace: Namespace | None = None


class _ItemRow(_Row, kw_only=True):
    """Common to every item: its stable id (made from its source identity when left out)."""

    uid: Uid | None = None
    name: Name | None = None
    domain: Domain | None = None
    tags: Tags = []


class MessageIn(_ItemRow, tag="message", kw_only=True):
    """One message of a conversation; `author` is short for `author_name`.

    `position` orders messages sent at the same time; `sent_at` without an offset means UTC.
    """

    text: Text
    message_id: MessageId | None = None
    author: AuthorName | None = None
    author_name: AuthorName | None = None
    author_id: AuthorId | None = None
    role: Role | None = None
    conversation_id: ConversationId | None = None
    session_id: SessionId | None = None
    position: Position | None = None
    sent_at: SentAt | None = None
    caption: Caption | None = None


class FactIn(_ItemRow, tag="fact", kw_only=True):
    """A statement about somebody or something, with the messages or chunks that support it.

    Either `text`, or `subject`, `predicate` and `object` must be given; `evidence` names items by uid, messages by
    message_id or lines of files; `supersedes` names facts by uid that this one replaces from `valid_from` on.
    """

    text: Text | None = None
    subject: Subject | None = None
    predicate: Predicate | None = None
    object: Object | None = None
    person_id: PersonId | None = None
    fact_type: FactType | None = None
    fact_object: FactObject | None = None
    relationship_type: RelationshipType | None = None
    attributes: Attributes = {}
    confidence: Confidence | None = None
    valid_from: ValidFrom | None = None
    valid_to: ValidTo | None = None
    evidence: EvidenceRefs = []
    supersedes: Supersedes = []


class MemoryIn(_ItemRow, tag="memory", kw_only=True):
    """What an agent decided to keep; `evidence` as of a fact."""

    text: Text
    type: TypeOfMemory | None = None
    importance: Importance | None = None
    agent: Agent | None = None
    source: Source | None = None
    occurred_at: OccurredAt | None = None
    evidence: EvidenceRefs = []


class LinkInput(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """A typed edge between two items of one namespace, named by uid; the quotes say where each end shows it."""

    source: SourceUid
    target: TargetUid
    type: TypeOfEdge
    confidence: Confidence = 1.0
    reason: EdgeReason | None = None
    source_quote: Quote | None = None
    target_quote: Quote | None = None


class EdgeIn(LinkInput, tag_field="kind", tag="edge", kw_only=True):
    """A typed edge as a row among others."""

    namespace: Namespace | None = None


ItemIn = MessageIn | FactIn | MemoryIn
RowIn = ItemIn | EdgeIn
RowsIn = list[RowIn] | RowIn


class ItemOut(Struct, kw_only=True):
    """One stored item; `properties` holds what its kind adds (a message's author, a fact's validity, …).

    `version` counts from 1 and grows with every change of the item; it is also the answer's ETag.
    """

    uid: str
    kind: str
    namespace: str
    name: str
    text: str
    occurred_at: Time | None
    created_at: Time
    version: int
    properties: dict[str, Any]
    evidence: list[Evidence]


class RowError(Struct, kw_only=True):
    """Why one row was not taken: `line` counts from 1, `field` is a path such as `$.sent_at`."""

    line: int
    field: str
    code: str
    message: str


class IngestReport(Struct, kw_only=True):
    """What an ingest did; `failed` rows are listed in `errors` (the first 1,000) and lose nothing else."""

    added: int = 0
    updated: int = 0
    unchanged: int = 0
    failed: int = 0
    pending_embeddings: int = 0
    errors: list[RowError] = msgspec.field(default_factory=list)
    notes: list[str] = msgspec.field(default_factory=list)

    @property
    def total(self) -> int:
        """Rows read."""
        return self.added + self.updated + self.unchanged + self.failed
