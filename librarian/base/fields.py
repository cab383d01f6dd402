"""The vocabulary of the contracts: the type of each field with its limits and its meaning, named once.

The descriptions stand in the OpenAPI document and in the schemas of the tools, which language models read.
"""

from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta

MAX_TEXT_CHARS = 1_000_000
DEFAULT_MAX_FACTS = 10
"""Hits of a search by a tool call that asks for no number."""

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
        description="Stable id of an item: 1 to 200 characters, no blanks, slashes or control characters.",
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
Tags = Annotated[list[ShortText], Meta(max_length=100, description="Keywords; the filter `tags` compares them whole.")]

# Times, as RFC 3339; without an offset they are UTC.
Time = Annotated[datetime, _time()]
SentAt = Annotated[datetime, _time("When it was sent (RFC 3339; UTC without an offset).")]
OccurredAt = Annotated[datetime, _time("When it happened (RFC 3339; UTC without an offset).")]
ValidFrom = Annotated[datetime, _time("Since when it has been true (RFC 3339; UTC without an offset).")]
ValidTo = Annotated[datetime, _time("Until when it was true, itself excluded (RFC 3339); null while it still is.")]
ExpiresAt = Annotated[
    datetime, _time("From when on it is not found any more, and may be purged (RFC 3339); null: never.")
]
Pinned = Annotated[bool, Meta(description="Keep it: it does not expire, and is not proposed for forgetting.")]
Expired = Annotated[bool, Meta(description="Find what has expired too, until it is purged.")]
Resembling = Annotated[
    bool,
    Meta(description="Only what may say in other words what was forgotten and is not pinned; false: only the rest."),
]

# Messages.
MessageId = Annotated[str, _short("Id of the message where it comes from.")]
AuthorName = Annotated[str, _short("Who wrote it, as people call them.")]
AuthorId = Annotated[str, _short("Who wrote it, as the system where it comes from names them.")]
Role = Annotated[str, _short("Role of the author, such as `user` or `assistant`.")]
ConversationId = Annotated[str, _short("Id of the conversation that a message is part of.")]
SessionId = Annotated[str, _short("Id of the session that a message is part of.")]
Position = Annotated[
    int, Meta(ge=0, le=2**53, description="Place in the conversation; orders messages that were sent at the same time.")
]
Caption = Annotated[str, _long("What an attached picture or file shows.")]

# Facts.
Subject = Annotated[str, _short("Whom or what the statement is about.")]
Predicate = Annotated[str, _short("What is said of the subject, such as `lives in`.")]
Object = Annotated[str, _long("The value that the predicate gives the subject.")]
PersonId = Annotated[str, _short("Id of the person that a fact is about.")]
FactType = Annotated[str, _short("Sort of fact in your own words, such as `preference`.")]
FactObject = Annotated[str, _short("Short form of the object, by which facts are compared.")]
RelationshipType = Annotated[str, _short("Short form of the predicate, by which facts are compared.")]
Attributes = Annotated[
    dict[str, Attribute], Meta(description="Further values by name, given back as they came and not searched.")
]
Confidence = Annotated[float, Meta(ge=0, le=1, description="How sure it is, from 0 to 1.")]
EvidenceRefs = Annotated[
    list[ShortText],
    Meta(
        max_length=1000,
        description="What supports it: uids of items, message_ids, or lines of an indexed file as "
        "`file:src/app.py#L12-L20`.",
    ),
]
Supersedes = Annotated[
    list[Uid], Meta(max_length=100, description="Facts (uid) that this one replaces from `valid_from` on.")
]

# Memories.
TypeOfMemory = Annotated[MemoryType, Meta(description="What sort of memory it is.")]
Importance = Annotated[int, Meta(ge=1, le=10, description="How much it matters, from 1 to 10.")]
Agent = Annotated[str, _short("The agent that keeps the memory.")]
Source = Annotated[str, _short("Where it comes from: a tool, a document, a URL.")]

# Edges.
EdgeId = Annotated[str, Meta(min_length=1, max_length=200, description="Id of an edge.")]
TypeOfEdge = Annotated[EdgeType, Meta(description="What the source does to the target; RELATES_TO has no direction.")]
SourceUid = Annotated[Uid, Meta(description="uid of the item where the edge starts: what causes, blocks or enables.")]
TargetUid = Annotated[Uid, Meta(description="uid of the item where the edge ends: what is caused, blocked or enabled.")]
EdgeReason = Annotated[str, Meta(max_length=4000, description="Why the two are connected.")]
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
PathPrefix = Annotated[str, _short("Only parts of files whose path starts with this.")]
OccurredFrom = Annotated[datetime, _time("Only what happened then or later (RFC 3339; UTC without an offset).")]
OccurredTo = Annotated[datetime, _time("Only what happened then or earlier (RFC 3339; UTC without an offset).")]
AsOf = Annotated[
    datetime, _time("What held then (RFC 3339): facts valid then, superseded ones too, and what had happened by then.")
]
KnownAt = Annotated[
    datetime, _time("What was on file then (RFC 3339), in the words that it had then; what came later is left out.")
]

# Requests.
Reason = Annotated[str, Meta(min_length=1, max_length=4000, description="Why; kept in the history.")]
ConfirmToken = Annotated[
    str, Meta(min_length=1, max_length=200, description="Token of the preview: what was previewed is deleted.")
]
PageSize = Annotated[int, Meta(ge=1, le=500, description="How many entries a page has at most.")]
Cursor = Annotated[
    str, Meta(min_length=1, max_length=2000, description="`next_cursor` of the page before; the rest as it was there.")
]
