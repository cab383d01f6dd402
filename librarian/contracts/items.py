"""What comes in: items and edges as users send them, one object a line or array element."""

from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from librarian.contracts.evidence import Evidence

MAX_TEXT_CHARS = 1_000_000

Uid = Annotated[str, Meta(min_length=1, max_length=200, pattern=r"^[^\s/\\]+$(?!\n)")]
Namespace = Annotated[str, Meta(min_length=1, max_length=128, pattern=r"^[\w.:@-]+$(?!\n)")]
ShortText = Annotated[str, Meta(max_length=500)]
Text = Annotated[str, Meta(min_length=1, max_length=MAX_TEXT_CHARS)]
Attribute = str | int | float | bool | None

Kind = Literal["message", "fact", "memory", "file_chunk"]
MemoryType = Literal["Pattern", "Decision", "Problem", "Insight", "Exception", "Reference", "Unknown"]
EdgeType = Literal["CAUSES", "BLOCKS", "ENABLES", "RELATES_TO"]


class _Row(Struct, tag_field="kind", forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """Common to every row: which namespace it belongs to (when the caller may choose)."""

    namespace: Namespace | None = None


class _ItemRow(_Row, kw_only=True):
    """Common to every item: its stable id (made from its source identity when left out)."""

    uid: Uid | None = None
    name: ShortText | None = None
    domain: ShortText | None = None
    tags: Annotated[list[ShortText], Meta(max_length=100)] = []


class MessageIn(_ItemRow, tag="message", kw_only=True):
    """One message of a conversation; `author` is short for `author_name`.

    `position` orders messages sent at the same time; `sent_at` without an offset means UTC.
    """

    text: Text
    message_id: ShortText | None = None
    author: ShortText | None = None
    author_name: ShortText | None = None
    author_id: ShortText | None = None
    role: ShortText | None = None
    conversation_id: ShortText | None = None
    session_id: ShortText | None = None
    position: Annotated[int, Meta(ge=0, le=2**53)] | None = None
    sent_at: datetime | None = None
    caption: Annotated[str, Meta(max_length=MAX_TEXT_CHARS)] | None = None


class FactIn(_ItemRow, tag="fact", kw_only=True):
    """A statement about somebody or something, with the messages or chunks that support it.

    Either `text`, or `subject`, `predicate` and `object` must be given; `evidence` names items by uid or
    messages by message_id; `supersedes` names facts by uid that this one replaces from `valid_from` on.
    """

    text: Text | None = None
    subject: ShortText | None = None
    predicate: ShortText | None = None
    object: Annotated[str, Meta(max_length=MAX_TEXT_CHARS)] | None = None
    person_id: ShortText | None = None
    fact_type: ShortText | None = None
    fact_object: ShortText | None = None
    relationship_type: ShortText | None = None
    attributes: dict[str, Attribute] = {}
    confidence: Annotated[float, Meta(ge=0, le=1)] | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    evidence: Annotated[list[ShortText], Meta(max_length=1000)] = []
    supersedes: Annotated[list[Uid], Meta(max_length=100)] = []


class MemoryIn(_ItemRow, tag="memory", kw_only=True):
    """What an agent decided to keep."""

    text: Text
    type: MemoryType | None = None
    importance: Annotated[int, Meta(ge=1, le=10)] | None = None
    agent: ShortText | None = None
    source: ShortText | None = None
    occurred_at: datetime | None = None


class LinkInput(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """A typed edge between two items of one namespace, named by uid; the quotes say where each end shows it."""

    source: Uid
    target: Uid
    type: EdgeType
    confidence: Annotated[float, Meta(ge=0, le=1)] = 1.0
    reason: Annotated[str, Meta(max_length=4000)] | None = None
    source_quote: Annotated[str, Meta(max_length=4000)] | None = None
    target_quote: Annotated[str, Meta(max_length=4000)] | None = None


class EdgeIn(LinkInput, tag_field="kind", tag="edge", kw_only=True):
    """A typed edge as a row among others."""

    namespace: Namespace | None = None


ItemIn = MessageIn | FactIn | MemoryIn
RowIn = ItemIn | EdgeIn


class ItemOut(Struct, kw_only=True):
    """One stored item; `properties` holds what its kind adds (a message's author, a fact's validity, …).

    `version` counts from 1 and grows with every change of the item; it is also the answer's ETag.
    """

    uid: str
    kind: str
    namespace: str
    name: str
    text: str
    occurred_at: datetime | None
    created_at: datetime
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
