"""From rows as users send them to items as the graph stores them: identity, times, texts."""

import hashlib
from collections import Counter
from datetime import UTC, datetime
from typing import Any

import msgspec

from graph.types import FOREVER, EdgeType, Kind, NewEdge, NewItem
from librarian.contracts.items import EdgeIn, FactIn, ItemIn, MemoryIn, MessageIn
from librarian.errors import InvalidInput
from retrieval.text import caption_of, clean, has_cjk, keyword_text

# Part of every source hash: raising it makes the next ingest of the same rows rewrite what is derived from them.
_DERIVATION = "1"


class RowBuilder:
    """Builds the items of one ingest. It counts equal anonymous rows, so that two messages "ok" stay two."""

    def __init__(self) -> None:
        self._seen: Counter[str] = Counter()

    def item(self, namespace: str, row: ItemIn) -> NewItem:
        """`row` as an item of `namespace`. Raises InvalidInput naming the field when parts of it contradict each
        other.
        """
        match row:
            case MessageIn():
                return self._message(namespace, row)
            case FactIn():
                return self._fact(namespace, row)
            case MemoryIn():
                return self._memory(namespace, row)

    def edge(self, namespace: str, row: EdgeIn, line: int) -> NewEdge:
        """`row` as a typed edge, drawn by a human; RELATES_TO runs from the lower to the higher uid."""
        if row.source == row.target:
            raise InvalidInput("an edge needs two different items", field="$.target")
        source, target = row.source, row.target
        if row.type == "RELATES_TO" and source > target:
            source, target = target, source
        properties = {
            "confidence": row.confidence,
            "method": "human",
            "reason": row.reason,
            "source_quote": row.source_quote if source == row.source else row.target_quote,
            "target_quote": row.target_quote if source == row.source else row.source_quote,
        }
        edge_id = _digest(namespace, source, row.type, target)
        return NewEdge(line, source, target, EdgeType(row.type), edge_id, properties)

    def _message(self, namespace: str, row: MessageIn) -> NewItem:
        if row.author and row.author_name and row.author != row.author_name:
            raise InvalidInput("author and author_name differ; give one of them", field="$.author")
        author = clean(row.author_name or row.author or "") or None
        text, caption = clean(row.text), _cleaned(row.caption)
        sent_at = as_utc(row.sent_at)
        uid = row.uid or self._message_uid(namespace, row)
        own = {
            "message_id": row.message_id or uid,
            "author_name": author,
            "author_id": row.author_id,
            "role": row.role,
            "conversation_id": row.conversation_id,
            "session_id": row.session_id,
            "position": row.position,
            "sent_at": sent_at,
            "caption": caption,
        }
        return _item(
            uid,
            Kind.MESSAGE,
            row,
            text,
            occurred_at=sent_at,
            own=own,
            search_text=keyword_text(text, author=author, caption=caption, when=sent_at),
            conversation_id=row.conversation_id,
        )

    def _message_uid(self, namespace: str, row: MessageIn) -> str:
        conversation = row.conversation_id or ""
        if row.message_id:
            return f"m-{_digest(namespace, 'message', conversation, 'id', row.message_id)}"
        if row.position is not None:
            return f"m-{_digest(namespace, 'message', conversation, 'position', row.position, as_utc(row.sent_at))}"
        author = row.author_name or row.author or row.author_id
        return f"m-{self._counted(namespace, 'message', conversation, author, as_utc(row.sent_at), row.text)}"

    def _fact(self, namespace: str, row: FactIn) -> NewItem:
        text = clean(row.text or _sentence(row))
        valid_from, valid_to = as_utc(row.valid_from), as_utc(row.valid_to) or FOREVER
        if valid_from and valid_to <= valid_from:
            raise InvalidInput("valid_to must be later than valid_from", field="$.valid_to")
        identity = (row.person_id, row.subject, row.predicate, row.object or row.text, valid_from)
        uid = row.uid or f"f-{_digest(namespace, 'fact', *identity)}"
        own = {
            "subject": row.subject,
            "predicate": row.predicate,
            "object": _cleaned(row.object),
            "person_id": row.person_id,
            "fact_type": row.fact_type,
            "fact_object": row.fact_object or _cleaned(row.object),
            "relationship_type": row.relationship_type or row.predicate,
            "attributes": msgspec.json.encode(row.attributes).decode() if row.attributes else None,
            "confidence": row.confidence,
            "valid_from": valid_from,
            "valid_to": valid_to,
            "evidence_refs": list(dict.fromkeys(row.evidence)),
            "supersedes_refs": [ref for ref in dict.fromkeys(row.supersedes) if ref != uid],
        }
        return _item(
            uid,
            Kind.FACT,
            row,
            text,
            occurred_at=valid_from,
            own=own,
            search_text=keyword_text(text, author=_subject_if_unsaid(row, text), when=valid_from),
            person_id=row.person_id,
        )

    def _memory(self, namespace: str, row: MemoryIn) -> NewItem:
        text = clean(row.text)
        occurred_at = as_utc(row.occurred_at)
        uid = row.uid or f"k-{self._counted(namespace, 'memory', row.agent, occurred_at, row.text)}"
        own: dict[str, Any] = {"type": row.type, "importance": row.importance, "agent": row.agent, "source": row.source}
        if row.type is not None:
            own["type_confidence"] = 1.0
        return _item(
            uid,
            Kind.MEMORY,
            row,
            text,
            occurred_at=occurred_at,
            own=own,
            search_text=keyword_text(text, title=_cleaned(row.name), when=occurred_at),
        )

    def _counted(self, *identity: object) -> str:
        """A digest of `identity` and of how often it came before in this ingest."""
        digest = _digest(*identity)
        self._seen[digest] += 1
        return digest if self._seen[digest] == 1 else _digest(*identity, self._seen[digest])


def _item(
    uid: str,
    kind: Kind,
    row: ItemIn,
    text: str,
    *,
    occurred_at: datetime | None,
    own: dict[str, Any],
    search_text: str,
    conversation_id: str | None = None,
    person_id: str | None = None,
) -> NewItem:
    if not text.strip():
        raise InvalidInput("text holds no visible character", field="$.text")
    properties = {
        **{key: _cleaned(value) if isinstance(value, str) else value for key, value in own.items()},
        "name": caption_of(_cleaned(row.name) or text),
        "text": text,
        "search_text": search_text,
        "occurred_at": occurred_at,
        "domain": row.domain,
        "tags": list(dict.fromkeys(row.tags)) or None,
    }
    return NewItem(uid, kind, _source_hash(row), properties, has_cjk(search_text), conversation_id, person_id)


def _sentence(row: FactIn) -> str:
    if not (row.subject and row.predicate and row.object):
        raise InvalidInput("a fact needs text, or subject, predicate and object", field="$.text")
    return f"{row.subject} {row.predicate} {row.object}"


def _subject_if_unsaid(row: FactIn, text: str) -> str | None:
    return row.subject if row.subject and row.subject.casefold() not in text.casefold() else None


def _cleaned(value: str | None) -> str | None:
    return None if value is None else clean(value)


def as_utc(moment: datetime | None) -> datetime | None:
    """`moment` in UTC; one without an offset is taken as UTC."""
    if moment is None:
        return None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def _source_hash(row: ItemIn) -> str:
    plain = msgspec.structs.replace(row, namespace=None, uid=None)
    return hashlib.sha256(_DERIVATION.encode() + msgspec.json.encode(plain, order="deterministic")).hexdigest()


def _digest(*parts: object) -> str:
    """24 hexadecimal digits (96 bits) of the parts, which are kept apart and told from their absence."""
    encoded = msgspec.json.encode([None if part is None else str(part) for part in parts])
    return hashlib.sha256(encoded).hexdigest()[:24]
