"""The vocabulary of the contracts: the type of each field with its limits and its meaning, named once.

The descriptions appear in the OpenAPI document and in the tool schemas, which language models read.
"""

from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta

MAX_TEXT_CHARS = 1_000_000
DEFAULT_MAX_FACTS = 10
"""Hits of a search by a tool call without `limit`."""

ShortText = Annotated[str, Meta(max_length=500)]
Attribute = str | int | float | bool | None

Kind = Literal["message", "fact", "memory", "file_chunk"]
MemoryType = Literal["Pattern", "Decision", "Problem", "Insight", "Exception", "Reference", "Unknown"]
EdgeType = Literal["CAUSES", "BLOCKS", "ENABLES", "RELATES_TO"]


def _short(description: str) -> Meta:
    return Meta(max_length=500, description=description)


def _long(description: str) -> Meta:
    return Meta(max_length=MAX_TEXT_CHARS, description=description)


def _time(description: str | None = None) -> Meta:
    return Meta(description=description, extra_json_schema={"format": "date-time"})


# Every item.
Uid = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=200,
        pattern=r"^[^\s/\\\x00-\x1f\x7f]+$(?!\n)",
        description="Stable id of an item: 1 to 200 characters without spaces, slashes or control characters.",
    ),
]
Namespace = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=128,
        pattern=r"^[\w.:@-]+$(?!\n)",
        description="Namespace: 1 to 128 letters of any script, digits or `. : @ _ -`.",
    ),
]
Text = Annotated[str, Meta(min_length=1, max_length=MAX_TEXT_CHARS, description="The whole text, in any language.")]
Name = Annotated[str, _short("Short title for lists; by default the start of the text.")]
Domain = Annotated[str, _short("Area of work or life it belongs to, such as `deploys`.")]
Tags = Annotated[list[ShortText], Meta(max_length=100, description="Keywords; the filter `tags` matches whole tags.")]

# Times, as RFC 3339; without an offset they are UTC.
Time = Annotated[datetime, _time()]
SentAt = Annotated[datetime, _time("When it was sent (RFC 3339; UTC without an offset).")]
OccurredAt = Annotated[datetime, _time("When it happened (RFC 3339; UTC without an offset).")]
ValidFrom = Annotated[datetime, _time("Start of its validity (RFC 3339; UTC without an offset).")]
ValidTo = Annotated[datetime, _time("End of its validity, exclusive (RFC 3339); null while it is valid.")]
ExpiresAt = Annotated[
    datetime, _time("When it expires: no longer found from then on, and may be purged (RFC 3339); null: never.")
]
Pinned = Annotated[bool, Meta(description="Keep it: it never expires and is never proposed for forgetting.")]
Expired = Annotated[bool, Meta(description="Also find expired items that are not purged yet.")]
Resembling = Annotated[
    bool,
    Meta(description="Only items that may restate something forgotten and are not pinned; false: only the others."),
]

# Messages.
MessageId = Annotated[str, _short("Id of the message in the system it comes from.")]
AuthorName = Annotated[str, _short("Name of the author.")]
AuthorId = Annotated[str, _short("Id of the author in the system it comes from.")]
Role = Annotated[str, _short("Role of the author, such as `user` or `assistant`.")]
ConversationId = Annotated[str, _short("Id of the conversation the message belongs to.")]
SessionId = Annotated[str, _short("Id of the session the message belongs to.")]
Position = Annotated[
    int, Meta(ge=0, le=2**53, description="Position in the conversation; orders messages sent at the same time.")
]
Caption = Annotated[str, _long("What an attached picture or file shows.")]

# Facts.
Subject = Annotated[str, _short("Person or thing the statement is about.")]
Predicate = Annotated[str, _short("Relation of the subject to the object, such as `lives in`.")]
Object = Annotated[str, _long("Value of the predicate for the subject.")]
PersonId = Annotated[str, _short("Id of the person the fact is about.")]
FactType = Annotated[str, _short("Category of the fact in your own words, such as `preference`.")]
FactObject = Annotated[str, _short("Short form of the object, by which facts are compared.")]
RelationshipType = Annotated[str, _short("Short form of the predicate, by which facts are compared.")]
Attributes = Annotated[
    dict[str, Attribute], Meta(description="Further values by name; returned unchanged, not searched.")
]
Confidence = Annotated[float, Meta(ge=0, le=1, description="Confidence from 0 to 1.")]
EvidenceRefs = Annotated[
    list[ShortText],
    Meta(
        max_length=1000,
        description="What supports it: uids of items, message_ids, or lines of an indexed file as "
        "`file:src/app.py#L12-L20`.",
    ),
]
Supersedes = Annotated[
    list[Uid], Meta(max_length=100, description="Uids of the facts that this one replaces from `valid_from` on.")
]

# Memories.
TypeOfMemory = Annotated[MemoryType, Meta(description="Type of the memory.")]
Importance = Annotated[int, Meta(ge=1, le=10, description="How much it matters, from 1 to 10.")]
Agent = Annotated[str, _short("Agent that keeps the memory.")]
Source = Annotated[str, _short("Where it comes from: a tool, a document, a URL.")]

# Edges.
EdgeId = Annotated[str, Meta(min_length=1, max_length=200, description="Id of an edge.")]
TypeOfEdge = Annotated[EdgeType, Meta(description="What the source does to the target; RELATES_TO has no direction.")]
SourceUid = Annotated[Uid, Meta(description="uid of the item where the edge starts: what causes, blocks or enables.")]
TargetUid = Annotated[Uid, Meta(description="uid of the item where the edge ends: what is caused, blocked or enabled.")]
EdgeReason = Annotated[str, Meta(max_length=4000, description="Why the two items are connected.")]
Quote = Annotated[str, Meta(max_length=4000, description="Words of this end's text that show the connection.")]

# Filters.
Kinds = Annotated[list[Kind], Meta(min_length=1, max_length=4, description="Only these kinds of items.")]
MemoryTypes = Annotated[list[MemoryType], Meta(min_length=1, max_length=7, description="Only memories of these types.")]
Authors = Annotated[
    list[ShortText], Meta(min_length=1, max_length=100, description="Only messages by one of these `author_name`s.")
]
AllTags = Annotated[
    list[ShortText], Meta(min_length=1, max_length=100, description="Only items that have all of these tags.")
]
PathPrefix = Annotated[str, _short("Only file chunks whose path starts with this.")]
OccurredFrom = Annotated[datetime, _time("Only what happened then or later (RFC 3339; UTC without an offset).")]
OccurredTo = Annotated[datetime, _time("Only what happened then or earlier (RFC 3339; UTC without an offset).")]
AsOf = Annotated[
    datetime,
    _time("Only what was true then (RFC 3339): facts valid then, superseded since or not, and earlier events."),
]
KnownAt = Annotated[datetime, _time("Only what was stored by then (RFC 3339), in its wording of that time.")]

# Requests.
Reason = Annotated[str, Meta(min_length=1, max_length=4000, description="Reason; kept in the history.")]
ConfirmToken = Annotated[
    str, Meta(min_length=1, max_length=200, description="Token from the preview; deletes what was previewed.")
]
PageSize = Annotated[int, Meta(ge=1, le=500, description="Maximum number of entries per page.")]
Cursor = Annotated[
    str,
    Meta(min_length=1, max_length=2000, description="`next_cursor` of the previous page; keep all other parameters."),
]
