"""From rows as users send them to items as the graph stores them: identity, times, texts."""

import hashlib
from collections import Counter
from datetime import UTC, datetime
from typing import Any, TypeVar

import msgspec

from graph.citations import cited_lines
from graph.types import FOREVER, EdgeType, Kind, NewEdge, NewItem
from librarian.contracts.items import FactIn, ItemIn, LinkInput, MemoryIn, MessageIn
from librarian.errors import InvalidInput
from retrieval.text import caption_of, clean, has_cjk, keyword_text

R = TypeVar("R", MessageIn, FactIn, MemoryIn)

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

    def _message(self, namespace: str, row: MessageIn) -> NewItem:
        if row.author and row.author_name and row.author != row.author_name:
            raise InvalidInput("author and author_name differ; give one of them", field="$.author")
        uid = row.uid or self._message_uid(namespace, row)
        source_hash, row = _source_hash(row), _cleaned(row)
        author = row.author_name or row.author or None
        sent_at = as_utc(row.sent_at)
        own = {
            "message_id": row.message_id or uid,
            "author_name": author,
            "author_id": row.author_id,
            "role": row.role,
            "conversation_id": row.conversation_id,
            "session_id": row.session_id,
            "position": row.position,
            "sent_at": sent_at,
            "caption": row.caption,
        }
        return _item(
            uid,
            Kind.MESSAGE,
            source_hash,
            row,
            row.text,
            occurred_at=sent_at,
            own=own,
            search_text=keyword_text(row.text, author=author, caption=row.caption, when=sent_at),
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
        valid_from, valid_to = as_utc(row.valid_from), as_utc(row.valid_to) or FOREVER
        if valid_from and valid_to <= valid_from:
            raise InvalidInput("valid_to must be later than valid_from", field="$.valid_to")
        identity = (row.person_id, row.subject, row.predicate, row.object or row.text, valid_from)
        uid = row.uid or f"f-{_digest(namespace, 'fact', *identity)}"
        source_hash, row = _source_hash(row), _cleaned(row)
        text = row.text or _said(row)
        own = {
            "subject": row.subject,
            "predicate": row.predicate,
            "object": row.object,
            "person_id": row.person_id,
            "fact_type": row.fact_type,
            "fact_object": row.fact_object or row.object,
            "relationship_type": row.relationship_type or row.predicate,
            "attributes": msgspec.json.encode(row.attributes).decode() if row.attributes else None,
            "confidence": row.confidence,
            "valid_from": valid_from,
            "valid_to": valid_to,
            "evidence_refs": _references(row),
            "supersedes_refs": [ref for ref in dict.fromkeys(row.supersedes) if ref != uid],
        }
        return _item(
            uid,
            Kind.FACT,
            source_hash,
            row,
            text,
            occurred_at=valid_from,
            own=own,
            search_text=keyword_text(text, author=_subject_if_unsaid(row, text), when=valid_from),
            person_id=row.person_id,
        )

    def _memory(self, namespace: str, row: MemoryIn) -> NewItem:
        occurred_at = as_utc(row.occurred_at)
        uid = row.uid or f"k-{self._counted(namespace, 'memory', row.agent, occurred_at, row.text)}"
        source_hash, row = _source_hash(row), _cleaned(row)
        own = {
            "type": row.type,
            "type_confidence": 1.0 if row.type else None,
            "importance": row.importance,
            "agent": row.agent,
            "source": row.source,
            "evidence_refs": _references(row) or None,
        }
        return _item(
            uid,
            Kind.MEMORY,
            source_hash,
            row,
            row.text,
            occurred_at=occurred_at,
            own=own,
            search_text=keyword_text(row.text, title=_title(row, row.text), when=occurred_at),
        )

    def _counted(self, *identity: object) -> str:
        """A digest of `identity` and of how often it came before in this ingest."""
        digest = _digest(*identity)
        self._seen[digest] += 1
        return digest if self._seen[digest] == 1 else _digest(*identity, self._seen[digest])


def new_edge(namespace: str, link: LinkInput, line: int = 0) -> NewEdge:
    """`link` as a typed edge, drawn by a human. Raises InvalidInput for one from an item to itself."""
    if link.source == link.target:
        raise InvalidInput("an edge needs two different items", field="$.target")
    source, target = stored_ends(link.source, link.type, link.target)
    turned = source != link.source
    properties = {
        "confidence": link.confidence,
        "method": "human",
        "reason": link.reason,
        "source_quote": link.target_quote if turned else link.source_quote,
        "target_quote": link.source_quote if turned else link.target_quote,
    }
    edge_id = edge_id_of(namespace, source, link.type, target)
    return NewEdge(line, source, target, EdgeType(link.type), edge_id, properties)


def edge_id_of(namespace: str, source: str, edge_type: str, target: str) -> str:
    """The id of the edge of this type between two items, whoever draws it; the ends as `stored_ends` has them."""
    return _digest(namespace, source, edge_type, target)


def correction_uid(namespace: str, uid: str) -> str:
    """The uid of the fact that corrects the fact `uid`: one fact has one correction."""
    return f"f-{_digest(namespace, 'correction', uid)}"


def stored_ends(source: str, edge_type: str, target: str) -> tuple[str, str]:
    """Source and target as the graph stores them: RELATES_TO has no direction and runs from the lower to the higher
    uid.
    """
    if edge_type == EdgeType.RELATES_TO and source > target:
        return target, source
    return source, target


def _item(
    uid: str,
    kind: Kind,
    source_hash: str,
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
        **own,
        "name": _title(row, text) or caption_of(text),
        "text": text,
        "search_text": search_text,
        "occurred_at": occurred_at,
        "domain": row.domain,
        "tags": list(dict.fromkeys(row.tags)) or None,
    }
    return NewItem(uid, kind, source_hash, properties, has_cjk(search_text), conversation_id, person_id)


def sentence(subject: str | None, predicate: str | None, object_: str | None) -> str | None:
    """What a fact says where it has no text of its own; None unless all three are there."""
    return f"{subject} {predicate} {object_}" if subject and predicate and object_ else None


def _references(row: FactIn | MemoryIn) -> list[str]:
    """What the row names as evidence, each once. Raises InvalidInput for a file without lines."""
    for ref in row.evidence:
        try:
            cited_lines(ref)
        except ValueError as error:
            raise InvalidInput(str(error), field="$.evidence") from None
    return list(dict.fromkeys(row.evidence))


def _said(row: FactIn) -> str:
    said = sentence(row.subject, row.predicate, row.object)
    if said is None:
        raise InvalidInput("a fact needs text, or subject, predicate and object", field="$.text")
    return said


def _title(row: ItemIn, text: str) -> str | None:
    """The name that the row gives, as it is stored; None where it is no other than the one made from the text."""
    name = caption_of(row.name or "")
    return name if name and name != caption_of(text) else None


def _subject_if_unsaid(row: FactIn, text: str) -> str | None:
    return row.subject if row.subject and row.subject.casefold() not in text.casefold() else None


def _cleaned(row: R) -> R:
    """`row` with every text and list of texts as the graph can hold it."""
    cleaned: dict[str, Any] = {}
    for name in row.__struct_fields__:
        match getattr(row, name):
            case str(text):
                cleaned[name] = clean(text)
            case list(texts):
                cleaned[name] = [clean(text) for text in texts]
    return msgspec.structs.replace(row, **cleaned)


def as_utc(moment: datetime | None) -> datetime | None:
    """`moment` in UTC; one without an offset is taken as UTC. Raises InvalidInput for one that UTC has no year for."""
    if moment is None:
        return None
    try:
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except OverflowError:
        raise InvalidInput(f"{moment.isoformat()} lies outside of the years 1 to 9999 in UTC") from None


def _source_hash(row: ItemIn) -> str:
    plain = msgspec.structs.replace(row, namespace=None, uid=None)
    return hashlib.sha256(_DERIVATION.encode() + msgspec.json.encode(plain, order="deterministic")).hexdigest()


def _digest(*parts: object) -> str:
    """24 hexadecimal digits (96 bits) of the parts, which are kept apart and told from their absence."""
    encoded = msgspec.json.encode([None if part is None else str(part) for part in parts])
    return hashlib.sha256(encoded).hexdigest()[:24]
