"""From stored items back to rows: what `librarian.rows` derives is left out where it would be derived again."""

from collections.abc import Mapping
from typing import Any

import msgspec

from graph.types import FOREVER, Kind, NewItem
from librarian.contracts.items import FactIn, ItemIn, MemoryIn, MessageIn
from librarian.errors import Conflict
from librarian.rows import sentence
from retrieval.text import caption_of

_MESSAGE = (
    "author_name", "author_id", "role", "conversation_id", "session_id", "position", "sent_at", "caption",
)  # fmt: skip
_FACT = ("subject", "predicate", "object", "person_id", "fact_type", "confidence", "valid_from")
_MEMORY = ("type", "importance", "agent", "source", "occurred_at")


def row_of(properties: Mapping[str, Any]) -> ItemIn:
    """The smallest row, without a uid, from which an item with these properties is built. Times are native.

    A value that equals what is derived in its absence (a fact's text, a name) counts as derived, so that it follows
    when its source changes. Raises Conflict for a file chunk, which no row describes.
    """
    match Kind(properties["kind"]):
        case Kind.MESSAGE:
            return _message(properties)
        case Kind.FACT:
            return _fact(properties)
        case Kind.MEMORY:
            return _memory(properties)
        case Kind.FILE_CHUNK:
            raise Conflict("a file chunk follows its file", remedy="Change the file and index it again.")


def whole(item: NewItem) -> dict[str, Any]:
    """The properties that `item` will have as far as a row determines them."""
    return {**item.properties, "uid": item.uid, "kind": item.kind}


def _message(properties: Mapping[str, Any]) -> MessageIn:
    message_id = properties.get("message_id")
    return MessageIn(
        text=properties["text"],
        message_id=None if message_id == properties.get("uid") else message_id,
        **_common(properties),
        **_taken(properties, _MESSAGE),
    )


def _fact(properties: Mapping[str, Any]) -> FactIn:
    stated = _taken(properties, _FACT)
    said = sentence(stated.get("subject"), stated.get("predicate"), stated.get("object"))
    return FactIn(
        text=None if properties["text"] == said else properties["text"],
        fact_object=_unless(properties.get("fact_object"), stated.get("object")),
        relationship_type=_unless(properties.get("relationship_type"), stated.get("predicate")),
        attributes=msgspec.json.decode(properties.get("attributes") or "{}"),
        valid_to=_unless(properties.get("valid_to"), FOREVER),
        evidence=_evidence(properties),
        supersedes=list(properties.get("supersedes_refs") or ()),
        **_common(properties),
        **stated,
    )


def _memory(properties: Mapping[str, Any]) -> MemoryIn:
    return MemoryIn(
        text=properties["text"],
        evidence=_evidence(properties),
        **_common(properties),
        **_taken(properties, _MEMORY),
    )


def _evidence(properties: Mapping[str, Any]) -> list[str]:
    return list(properties.get("evidence_refs") or ())


def _common(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": _unless(properties.get("name"), caption_of(properties["text"])),
        "domain": properties.get("domain"),
        "tags": list(properties.get("tags") or ()),
    }


def _taken(properties: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: properties.get(name) for name in names}


def _unless(value: Any, derived: Any) -> Any:
    return None if value == derived else value
