"""Items as typed values: the fields of memories, facts, messages and parts of files, each declared once.

Rows become values here; nowhere above `graph` is an item a map of properties. The neomodel declarations of
`graph.models`, the writes of ingest, revisions and responses follow from these classes: a new field is one line here
and one in the contract that brings it.

A value's repr names only kind and uid, because logs must not carry the texts of items.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from types import MappingProxyType
from typing import Any, ClassVar, NewType, TypeAlias, get_args

from graph.types import FOREVER, UNKNOWN_TIME, Cause, Evidence, Kind, Loss, LossReason, time_of

JsonObject = NewType("JsonObject", str)
"""A JSON object as text, since a node holds no maps."""

_NOT_STORED = MappingProxyType({"stored": False})


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ItemFields:
    """Fields of every item."""

    kind: ClassVar[Kind]

    namespace: str
    uid: str
    name: str = ""  # at most 60 characters: the caption in the Browser
    text: str
    domain: str | None = None
    tags: tuple[str, ...] = ()
    attributes: JsonObject | None = None  # the caller's own, returned unchanged
    occurred_at: datetime | None = None  # the time of the event: sent_at or valid_from
    expires_at: datetime | None = None  # from then on it is not found, and a sweep may purge it
    pinned: bool | None = None  # exempt from retention
    resembles: str | None = None  # the tombstone of something forgotten that it may reword
    created_at: datetime = UNKNOWN_TIME  # when it was first stored, by the server's clock
    updated_at: datetime | None = None
    version: int = 1  # incremented by every change
    source_hash: str | None = None  # of the input: ingest compares it
    evidence: tuple[Evidence, ...] = field(default=(), metadata=_NOT_STORED)
    led_by: tuple[Cause, ...] = field(default=(), metadata=_NOT_STORED)  # where a search asks for them

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.uid}>"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Memory(ItemFields):
    """Something that an agent decided to keep."""

    kind = Kind.MEMORY

    type: str | None = None  # Pattern Decision Problem Insight Exception Reference Unknown
    type_confidence: float | None = None  # 0..1
    importance: int | None = None  # 1..10
    agent: str | None = None
    source: str | None = None
    evidence_refs: tuple[str, ...] = ()  # as a fact's
    support_ends: datetime | None = None  # as a fact's, and so are the next four
    support_lost: str | None = None
    support_way: tuple[str, ...] = ()
    lost_refs: tuple[str, ...] = ()
    lost_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Fact(ItemFields):
    """A statement about somebody or something, with the period in which it holds."""

    kind = Kind.FACT

    subject: str | None = None
    predicate: str | None = None
    object: str | None = None
    person_id: str | None = None
    fact_type: str | None = None
    fact_object: str | None = None
    relationship_type: str | None = None
    confidence: float | None = None  # 0..1
    valid_from: datetime | None = None
    valid_to: datetime | None = None  # FOREVER while it holds
    evidence_refs: tuple[str, ...] = ()  # uids, message ids or file:PATH#L1-L9, as received
    supersedes_refs: tuple[str, ...] = ()  # uids, as received
    support_ends: datetime | None = None  # from then on nothing supports it (graph.support)
    support_lost: str | None = None  # why: a LossReason
    support_way: tuple[str, ...] = ()  # from what it cites to what ceased to stand
    lost_refs: tuple[str, ...] = ()  # those of evidence_refs that were forgotten
    lost_at: datetime | None = None  # when the last of them was forgotten


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Message(ItemFields):
    """One message of a conversation."""

    kind = Kind.MESSAGE

    message_id: str | None = None
    author_name: str | None = None
    author_id: str | None = None
    role: str | None = None
    conversation_id: str | None = None
    session_id: str | None = None
    position: int | None = None
    sent_at: datetime | None = None
    caption: str | None = None  # what a picture in the message shows
    replaced_by: str | None = None  # uid of the fact that holds instead of everything it states
    replaced_at: datetime | None = None  # from then on


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class FileChunk(ItemFields):
    """A range of lines of a file, `start_line` to `end_line`, counted from 1, both included."""

    kind = Kind.FILE_CHUNK

    path: str = ""
    language: str | None = None
    start_line: int = 1
    end_line: int = 1
    start_column: int | None = None  # from 0; a piece of one very long line begins there


Item: TypeAlias = Memory | Fact | Message | FileChunk
ItemClass: TypeAlias = type[Memory] | type[Fact] | type[Message] | type[FileChunk]

ITEM_CLASSES: Mapping[Kind, ItemClass] = MappingProxyType({cls.kind: cls for cls in (Memory, Fact, Message, FileChunk)})


@dataclass(frozen=True, slots=True)
class NewItem:
    """An item to write, with its text for full-text search; `cjk`: `search_text` belongs in the cjk index; `read`: a
    message that is to be read for facts. The item's `source_hash` identifies the input, so that repeating it changes
    nothing. `same_words`: the text contains the sentences of the previous one, whose vectors stay valid.
    """

    item: Memory | Fact | Message
    search_text: str = field(repr=False)
    cjk: bool = False
    read: bool = False
    same_words: bool = False


@dataclass(frozen=True, slots=True)
class Unchanged:
    """Nothing to write: the item `uid` is already as wanted."""

    uid: str


def stored_fields(cls: type[ItemFields]) -> Mapping[str, Any]:
    """Return the type of every stored field of `cls` by name, without None; the kind is not among them."""
    return _STORED[cls]


def _plain_type(annotation: Any) -> Any:
    """Return `str` for `str | None`, and for a new type made of `str` that type itself."""
    present = [option for option in get_args(annotation) if option is not type(None)]
    return present[0] if len(present) == 1 else annotation


def _time(value: Any) -> datetime:
    """Return a time from a statement: text, or the driver's own type."""
    moment: datetime = time_of(value) if isinstance(value, str) else value.to_native()
    return moment


_STORED: Mapping[type[ItemFields], Mapping[str, Any]] = {
    cls: {
        declared.name: _plain_type(declared.type) for declared in fields(cls) if declared.metadata.get("stored", True)
    }
    for cls in (ItemFields, *ITEM_CLASSES.values())
}
_READERS: Mapping[Any, Callable[[Any], Any]] = {datetime: _time, tuple[str, ...]: tuple}
_READ: Mapping[Kind, Sequence[tuple[str, Callable[[Any], Any] | None]]] = {
    kind: [(name, _READERS.get(type_)) for name, type_ in stored_fields(cls).items()]
    for kind, cls in ITEM_CLASSES.items()
}
# Stored fields that the ingest statements set themselves.
_SET_BY_SERVER = frozenset(
    {"namespace", "uid", "created_at", "updated_at", "version", "resembles"}
    | {"support_ends", "support_lost", "support_way", "lost_refs", "lost_at", "replaced_by", "replaced_at"}
)
_WRITTEN: Mapping[Kind, Sequence[str]] = {
    kind: [name for name in stored_fields(cls) if name not in _SET_BY_SERVER] for kind, cls in ITEM_CLASSES.items()
}


def item_of(properties: Mapping[str, Any], evidence: Sequence[Evidence] = (), led_by: Sequence[Cause] = ()) -> Item:
    """Return the item of a node or revision with these properties, without those that analysts added.

    Raises KeyError without kind, namespace, uid and text, ValueError for an unknown kind.
    """
    kind = Kind(properties["kind"])
    values: dict[str, Any] = {"evidence": tuple(evidence), "led_by": tuple(led_by)}
    for name, read in _READ[kind]:
        value = properties.get(name)
        if value is not None:
            values[name] = value if read is None else read(value)
    return ITEM_CLASSES[kind](**values)


def memory_of(properties: Mapping[str, Any]) -> Memory:
    """Return `item_of` for a memory. Raises TypeError for another item."""
    item = item_of(properties)
    if not isinstance(item, Memory):
        raise TypeError(f"{item!r} is not a memory")
    return item


def held_at(item: Item, moment: datetime) -> bool:
    """Return whether a fact was valid, or another item had happened, at `moment`."""
    began = (item.occurred_at or UNKNOWN_TIME) <= moment
    if not isinstance(item, Fact):
        return began
    return (item.valid_from or UNKNOWN_TIME) <= moment < (item.valid_to or FOREVER)


def held_between(item: Item, first: datetime | None, last: datetime | None) -> bool:
    """Return whether `item` is a fact that held at some time between `first` and `last`, if these are given."""
    if not isinstance(item, Fact) or first is None or last is None:
        return False
    return (item.valid_from or UNKNOWN_TIME) < last and (item.valid_to or FOREVER) > first


def expired_at(item: Item, moment: datetime) -> bool:
    """Return whether an item has expired at `moment`."""
    return item.expires_at is not None and item.expires_at <= moment


def loss_of(item: Item, moment: datetime) -> Loss | None:
    """Return the loss that leaves a fact or memory unsupported at `moment`, or None."""
    if not isinstance(item, Fact | Memory) or item.support_ends is None or item.support_ends > moment:
        return None
    return Loss(item.support_ends, LossReason(item.support_lost or LossReason.ENDED), item.support_way)


def replaced_by(item: Item, moment: datetime) -> str | None:
    """Return the fact that holds at `moment` instead of everything that a message states."""
    if not isinstance(item, Message) or item.replaced_at is None or item.replaced_at > moment:
        return None
    return item.replaced_by


def written_properties(item: Item) -> dict[str, Any]:
    """Return the properties that ingest writes on the item's node; None removes one."""
    values = ((name, getattr(item, name)) for name in _WRITTEN[item.kind])
    own = {name: list(value) or None if isinstance(value, tuple) else value for name, value in values}
    return own | {"kind": item.kind.value}
