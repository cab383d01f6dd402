"""Wire contracts of items: filters, rows, edges, changes, deletion, namespaces."""

from collections.abc import Iterator
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, structs

from librarian.base.fields import (
    Agent,
    AllTags,
    AsOf,
    Attributes,
    AuthorId,
    AuthorName,
    Authors,
    Caption,
    Confidence,
    ConfirmToken,
    ConversationId,
    Cursor,
    Domain,
    EdgeId,
    EdgeReason,
    EdgeType,
    EvidenceRefs,
    Expired,
    ExpiresAt,
    FactObject,
    FactType,
    Importance,
    Kind,
    Kinds,
    KnownAt,
    MemoryTypes,
    MessageId,
    Name,
    Namespace,
    Object,
    OccurredAt,
    OccurredFrom,
    OccurredTo,
    PageSize,
    PathPrefix,
    PersonId,
    Pinned,
    Position,
    Predicate,
    Quote,
    Reason,
    RelationshipType,
    Resembling,
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


class Filters(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """Conditions on items; all given ones must hold. Null means any.

    `occurred_from`/`occurred_to` bound when an item happened (both inclusive; UTC without an offset); `as_of` keeps
    what was true at that moment: facts valid then, even if superseded since, and earlier events. `known_at` keeps what
    was stored at that moment, as it was then. Expired items are left out unless `expired` is true.
    """

    kinds: Kinds | None = None
    types: MemoryTypes | None = None
    authors: Authors | None = None
    conversation_id: ConversationId | None = None
    session_id: SessionId | None = None
    person_id: PersonId | None = None
    domain: Domain | None = None
    tags: AllTags | None = None
    agent: Agent | None = None
    path_prefix: PathPrefix | None = None
    occurred_from: OccurredFrom | None = None
    occurred_to: OccurredTo | None = None
    as_of: AsOf | None = None
    known_at: KnownAt | None = None
    expired: Expired | None = None
    resembling: Resembling | None = None


class Evidence(Struct, kw_only=True, omit_defaults=True):
    """A message or file chunk that supports a fact or memory; `start` and `end` are the cited lines."""

    uid: str
    message_id: str | None
    author_name: str | None
    content: str
    sent_at: Time | None
    path: str | None = None
    start: int | None = None
    end: int | None = None


LostBy = Literal["superseded", "ended", "corrected", "forgotten"]


class Unsupported(Struct, kw_only=True, frozen=True):
    """When and why an item lost all its support. `way` lists the uids from its cited item to the one that was
    superseded, ended or corrected; it stops before a forgotten item.
    """

    since: Time
    because: LostBy
    way: list[str]


class _Row(Struct, tag_field="kind", forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """Field common to all rows: the namespace, if the caller may choose it."""

    namespace: Namespace | None = None


class _ItemRow(_Row, kw_only=True):
    """Field common to all item rows: the stable id (by default derived from the source identity)."""

    uid: Uid | None = None
    name: Name | None = None
    domain: Domain | None = None
    tags: Tags = []
    attributes: Attributes = {}
    expires_at: ExpiresAt | None = None
    pinned: Pinned | None = None


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
    """A statement about a person or thing, with the messages or chunks that support it.

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
    confidence: Confidence | None = None
    valid_from: ValidFrom | None = None
    valid_to: ValidTo | None = None
    evidence: EvidenceRefs = []
    supersedes: Supersedes = []


class MemoryIn(_ItemRow, tag="memory", kw_only=True):
    """Something an agent decided to keep; `evidence` as for facts."""

    text: Text
    type: TypeOfMemory | None = None
    importance: Importance | None = None
    agent: Agent | None = None
    source: Source | None = None
    occurred_at: OccurredAt | None = None
    evidence: EvidenceRefs = []


class LinkInput(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """A typed edge between two items of one namespace, named by uid; each end's quote shows the connection."""

    source: SourceUid
    target: TargetUid
    type: TypeOfEdge
    confidence: Confidence = 1.0
    reason: EdgeReason | None = None
    source_quote: Quote | None = None
    target_quote: Quote | None = None


class EdgeIn(LinkInput, tag_field="kind", tag="edge", kw_only=True):
    """A typed edge as a row of an ingest."""

    namespace: Namespace | None = None


ItemIn = MessageIn | FactIn | MemoryIn
RowIn = ItemIn | EdgeIn
RowsIn = list[RowIn] | RowIn


class ItemOut(Struct, kw_only=True):
    """One stored item; `properties` holds the fields of its kind (a message's author, a fact's validity, …).

    `version` starts at 1 and grows with every change of the item; it is also the answer's ETag. `unsupported` is set
    once nothing supports it; `superseded_by` is the fact that replaces everything a message states.
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
    unsupported: Unsupported | None = None
    superseded_by: str | None = None

    def without_content(self) -> "ItemOut":
        """Return the identity and version, for a caller without read access."""
        hidden: dict[str, Any] = {"properties": {}, "evidence": [], "unsupported": None, "superseded_by": None}
        return structs.replace(self, name="", text="", occurred_at=None, **hidden)


class Moments(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """The moments to read an item at: as stored at `known_at`, if it was true at `as_of`."""

    as_of: AsOf | None = None
    known_at: KnownAt | None = None


class RowError(Struct, kw_only=True):
    """Why one row was rejected: `line` counts from 1, `field` is a path such as `$.sent_at`."""

    line: int
    field: str
    code: str
    message: str


class IngestReport(Struct, kw_only=True):
    """Result of an ingest; `failed` rows are listed in `errors` (the first 1,000) and do not affect the others.

    `held_back` rows are not stored: they were forgotten before, by uid or in the same words, or are edges of such
    items; `held_back_uids` names the items (the first 1,000). `resembling` items are stored, but may restate something
    forgotten, which is for a human to judge; `resembling_uids` names them (the first 1,000).
    """

    added: int = 0
    updated: int = 0
    unchanged: int = 0
    failed: int = 0
    held_back: int = 0
    pending_embeddings: int = 0
    errors: list[RowError] = msgspec.field(default_factory=list)
    notes: list[str] = msgspec.field(default_factory=list)
    held_back_uids: list[str] = msgspec.field(default_factory=list)
    resembling: int = 0
    resembling_uids: list[str] = msgspec.field(default_factory=list)

    @property
    def total(self) -> int:
        """Rows read."""
        return self.added + self.updated + self.unchanged + self.failed + self.held_back


EvenIfForgotten = Annotated[
    bool,
    Meta(description="Also store forgotten items and lift their tombstones. Takes a key with the scope admin."),
]


class IngestQuery(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """Options of an ingest."""

    even_if_forgotten: EvenIfForgotten = False


Order = Literal["newest", "oldest", "latest"]


class ItemQuery(Filters, kw_only=True):
    """Items to list, with all filters of a search. Ordered by `created_at`, then uid; `latest` by `occurred_at`.

    `cursor` is the `next_cursor` of the previous page, sent with the same filters and order.
    """

    order: Annotated[Order, Meta(description="Order by `created_at`; `latest`: latest `occurred_at` first.")] = "newest"
    limit: PageSize = 50
    cursor: Cursor | None = None


class ItemList(Struct, kw_only=True):
    """One page; `next_cursor` is null on the last one."""

    items: list[ItemOut]
    next_cursor: str | None


_IDENTITY = {"namespace", "uid"}


def _patchable() -> Iterator[tuple[str, Any, Any]]:
    """Yield every field of the rows except their identity: each is optional, and null removes it."""
    types = {field.name: field.type for row in (MessageIn, FactIn, MemoryIn) for field in msgspec.structs.fields(row)}
    for name, type_ in types.items():
        if name not in _IDENTITY:
            yield name, type_ | None | UnsetType, UNSET


ItemPatch = msgspec.defstruct("ItemPatch", list(_patchable()), kw_only=True, forbid_unknown_fields=True)
ItemPatch.__doc__ = """A JSON merge patch (RFC 7396) over the fields of an item's row: null removes a field.

Only fields of the item's own kind can be set; kind and uid stay.
"""


EdgeState = Literal["accepted", "proposed", "rejected"]
EdgeMethod = Literal["rule", "llm", "human"]
EdgeTypes = Annotated[list[EdgeType], Meta(min_length=1, max_length=4, description="Only edges of these types.")]
EdgeStates = Annotated[list[EdgeState], Meta(min_length=1, max_length=3, description="Only edges in these states.")]
EdgeMethods = Annotated[list[EdgeMethod], Meta(min_length=1, max_length=3, description="Only edges drawn this way.")]
EitherEnd = Annotated[Uid, Meta(description="Only edges with this item at either end.")]


class EdgeOut(Struct, kw_only=True):
    """One typed edge; RELATES_TO has no direction and runs from the lower to the higher uid.

    `reason` says why the two are connected, `review_reason` why its reviewer decided so.
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

    def without_content(self) -> "EdgeOut":
        """Return the edge without its reason and quotes."""
        return structs.replace(self, reason=None, source_quote=None, target_quote=None, review_reason=None)


class LinkOutput(Struct, kw_only=True):
    """The stored edge; `created` is false if it existed, proposed or accepted (its method is human now).

    `notes` report contradictions with other edges.
    """

    created: bool
    edge: EdgeOut
    notes: list[str] = []

    def without_content(self) -> "LinkOutput":
        """Return it without quotes and notes."""
        return structs.replace(self, edge=self.edge.without_content(), notes=[])


class UnlinkInput(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """The edge to remove: `edge_id`, or `source`, `type` and `target`."""

    edge_id: EdgeId | None = None
    source: SourceUid | None = None
    type: TypeOfEdge | None = None
    target: TargetUid | None = None


class EdgeQuery(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """Edges to list, by edge_id; all given conditions must hold.

    `uid` is either end; `source` and `target` of a RELATES_TO, which has no direction, match in either order.
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


Outcome = Literal["added", "updated", "unchanged"]


class RememberInput(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """A memory or fact to keep.

    A memory needs `text`. With kind "fact", give `text`, or `subject`, `predicate` and `object`. `evidence` names the
    items (uid), messages (message_id) or lines of files (`file:PATH#L12-L20`) that support it. Equal content is stored
    once.
    """

    kind: Annotated[
        Literal["memory", "fact"], Meta(description="A memory, or a fact: a statement that evidence supports.")
    ] = "memory"
    text: Text | None = None
    uid: Uid | None = None
    domain: Domain | None = None
    tags: Tags = []
    expires_at: ExpiresAt | None = None
    pinned: Pinned | None = None
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
    """The stored item, and whether it was added, updated or unchanged."""

    outcome: Outcome
    item: ItemOut

    def without_content(self) -> "PutOutput":
        """Return it without the item's contents."""
        return structs.replace(self, item=self.item.without_content())


class Correction(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """A correction.

    A fact is superseded by a new one from `valid_from` on (default: now), which inherits unset fields except evidence
    and validity. A memory's text is replaced and its old text kept as a revision; only `text` and `reason` apply to it.
    Messages are records of what was said and cannot be corrected.
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
    """The item to correct, and its correction."""

    uid: Uid


class CorrectOutput(Struct, kw_only=True):
    """The corrected item; `superseded` is the uid of the fact it replaces, null for a memory."""

    item: ItemOut
    superseded: str | None

    def without_content(self) -> "CorrectOutput":
        """Return it without the item's contents."""
        return structs.replace(self, item=self.item.without_content())


class DeleteInput(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """Items to delete: those with these uids, or those that pass the filters; if both are given, both must hold.

    Without `confirm_token` nothing is deleted: the answer is a preview with the token to send.
    """

    uids: Annotated[list[Uid], Meta(min_length=1, max_length=1000, description="The items by uid.")] | None = None
    filters: Filters | None = None
    confirm_token: ConfirmToken | None = None


class DeletionQuery(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """Options of a deletion."""

    tombstones: Annotated[
        bool, Meta(description="Leave tombstones, which keep the items from returning; false: they may return.")
    ] = True


class DeleteCounts(Struct, kw_only=True):
    """Counts of a deletion: items by kind, and everything attached to them."""

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
    """A preview (`deleted` false: counts, first items, token), or the result of the deletion.

    `kept` counts items that were changed after the preview and therefore stay. In a preview, `unsupported` lists items
    that would lose all support (the first 100); `impact` has more.
    """

    deleted: bool
    counts: DeleteCounts
    sample: list[PreviewItem] = msgspec.field(default_factory=list)
    confirm_token: str | None = None
    kept: int = 0
    unsupported: list[PreviewItem] = msgspec.field(default_factory=list)

    def without_content(self) -> "DeleteOutput":
        """Return the counts and the token alone."""
        return structs.replace(self, sample=[], unsupported=[])


class ImpactInput(Struct, forbid_unknown_fields=True, kw_only=True):
    """The item in question."""

    uid: Uid


class ImpactedItem(PreviewItem, kw_only=True):
    """An item that depends on the one in question; `way` lists the uids from its cited item to that one."""

    way: list[str]


class LedToItem(PreviewItem, kw_only=True):
    """An item that `source` leads to by an accepted edge of this type."""

    type: Literal["CAUSES", "BLOCKS", "ENABLES"]
    source: str


class ImpactOutput(Struct, kw_only=True):
    """Consequences for others if an item ended, were corrected or forgotten.

    `unsupported` items would lose all support, nearest first; `supported` ones cite it, or one of those, and keep other
    support; `leads_to` are items that edges lead to, worth a look although their truth does not depend on it (the first
    50).
    """

    uid: Uid
    unsupported: list[ImpactedItem]
    supported: list[PreviewItem]
    leads_to: list[LedToItem]


TombstoneId = Annotated[str, Meta(min_length=1, max_length=64, description="Id of a tombstone, from the list.")]


class ForgottenQuery(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """The page of tombstones to list, latest first."""

    limit: PageSize = 50
    cursor: Cursor | None = None


class ForgottenOut(Struct, kw_only=True):
    """The tombstone of a forgotten item: its kind, by whom and when. It keeps hashes instead of uid and text."""

    tombstone_id: str
    kind: str
    actor: str | None
    forgotten_at: Time


class ForgottenList(Struct, kw_only=True):
    """One page; `next_cursor` is null on the last one."""

    forgotten: list[ForgottenOut]
    next_cursor: str | None


class LiftInput(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """Items to allow back, by their uids, or tombstones by their ids."""

    uids: Annotated[list[Uid], Meta(min_length=1, max_length=1000, description="The items by uid.")] | None = None
    tombstone_ids: (
        Annotated[list[TombstoneId], Meta(min_length=1, max_length=1000, description="The tombstones by id.")] | None
    ) = None


class LiftOutput(Struct, kw_only=True):
    """The number of lifted tombstones. The items themselves are gone until somebody ingests them again."""

    lifted: int


class RevisionOut(Struct, kw_only=True):
    """An item before one change: its properties, who changed it, why and when."""

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


class NamespaceOut(Struct, kw_only=True):
    """One namespace: its items by kind, and how many still wait for vectors."""

    namespace: str
    items: int
    by_kind: dict[Kind, int]
    pending_embeddings: int


class NamespaceList(Struct, kw_only=True):
    """The namespaces that the caller may access."""

    namespaces: list[NamespaceOut]


class DeleteNamespaceInput(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """Without `confirm_token` nothing is deleted: the answer is a preview with the token to send."""

    confirm_token: ConfirmToken | None = None


ImportFormat = Annotated[
    Literal["auto", "chatgpt", "claude", "graphiti", "langmem", "letta", "markdown", "mcp-memory", "mem0", "slack"],
    Meta(description="The program that wrote the export; auto recognises it."),
]
Filename = Annotated[
    str,
    Meta(min_length=1, max_length=255, description="The file's name; its ending tells whether it is a zip archive."),
]


class ImportQuery(Struct, forbid_unknown_fields=True, kw_only=True):
    """Name and options of the uploaded file."""

    filename: Filename = "upload"
    even_if_forgotten: EvenIfForgotten = False
