"""Converts rows sent by users to items stored in the graph (identity, times, texts), and back."""

import hashlib
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, TypeVar

import msgspec

from graph.citations import cited_lines
from graph.edges import NewEdge
from graph.item import Fact, FileChunk, Item, ItemClass, Memory, Message, NewItem, stored_fields
from graph.types import FOREVER, EdgeType
from librarian.base.errors import Conflict, InvalidInput
from librarian.items.contracts import FactIn, ItemIn, LinkInput, MemoryIn, MessageIn
from librarian_agents.sweep.sections import without_sections
from retrieval.text import caption_of, clean, has_cjk, keyword_text

R = TypeVar("R", MessageIn, FactIn, MemoryIn)

# Part of every source hash: after raising it, the next ingest of the same rows rewrites derived fields.
_DERIVATION = "1"
# Fields of a row that are not fields of the item.
_IDENTITY = frozenset({"namespace", "uid"})


class RowBuilder:
    """Builds the items of one ingest. It numbers equal anonymous rows, so that two messages "ok" stay two. With `read`,
    messages are read for facts once they are stored.
    """

    def __init__(self, *, read: bool = False) -> None:
        self._read = read
        self._seen: Counter[str] = Counter()

    def item(self, namespace: str, row: ItemIn) -> NewItem:
        """Return `row` as an item of `namespace`. Raises InvalidInput naming a field that contradicts another."""
        match row:
            case MessageIn():
                return replace(self._message(namespace, row), read=self._read)
            case FactIn():
                return self._fact(namespace, row)
            case MemoryIn():
                return self._memory(namespace, row)

    def _message(self, namespace: str, row: MessageIn) -> NewItem:
        if row.author and row.author_name and row.author != row.author_name:
            raise InvalidInput("author and author_name differ; give one of them", field="$.author")
        uid = row.uid or self._message_uid(namespace, row)
        source_hash, row = _source_hash(row), _cleaned(row)
        author, sent_at = row.author_name or row.author or None, as_utc(row.sent_at)
        return _item(
            Message,
            namespace,
            row,
            search_text=keyword_text(row.text, author=author, caption=row.caption, when=sent_at),
            uid=uid,
            source_hash=source_hash,
            occurred_at=sent_at,
            message_id=row.message_id or uid,
            author_name=author,
            sent_at=sent_at,
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
            raise InvalidInput(
                "valid_to must be later than valid_from",
                field="$.valid_to",
                remedy="Exchange them, or leave valid_to out if the fact still holds.",
            )
        identity = (row.person_id, row.subject, row.predicate, row.object or row.text, valid_from)
        uid = row.uid or f"f-{_digest(namespace, 'fact', *identity)}"
        source_hash, row = _source_hash(row), _cleaned(row)
        text = row.text or _said(row)
        return _item(
            Fact,
            namespace,
            row,
            search_text=keyword_text(text, author=_subject_if_unsaid(row, text), when=valid_from),
            uid=uid,
            source_hash=source_hash,
            text=text,
            occurred_at=valid_from,
            fact_object=row.fact_object or row.object,
            relationship_type=row.relationship_type or row.predicate,
            valid_from=valid_from,
            valid_to=valid_to,
            evidence_refs=_references(row),
            supersedes_refs=tuple(ref for ref in dict.fromkeys(row.supersedes) if ref != uid),
        )

    def _memory(self, namespace: str, row: MemoryIn) -> NewItem:
        occurred_at = as_utc(row.occurred_at)
        uid = row.uid or f"k-{self._counted(namespace, 'memory', row.agent, occurred_at, row.text)}"
        source_hash, row = _source_hash(row), _cleaned(row)
        return _item(
            Memory,
            namespace,
            row,
            search_text=keyword_text(without_sections(row.text), title=_title(row, row.text), when=occurred_at),
            uid=uid,
            source_hash=source_hash,
            occurred_at=occurred_at,
            type_confidence=1.0 if row.type else None,
            evidence_refs=_references(row),
        )

    def _counted(self, *identity: object) -> str:
        """Return a digest of `identity` and its number of earlier occurrences in this ingest."""
        digest = _digest(*identity)
        self._seen[digest] += 1
        return digest if self._seen[digest] == 1 else _digest(*identity, self._seen[digest])


def new_edge(namespace: str, link: LinkInput, line: int = 0) -> NewEdge:
    """Return `link` as a typed edge with method human. Raises InvalidInput if both ends are the same."""
    if link.source == link.target:
        raise InvalidInput("an edge needs two different items", field="$.target")
    source, target = stored_ends(link.source, link.type, link.target)
    turned = source != link.source
    return NewEdge(
        line=line,
        edge_id=edge_id_of(namespace, source, link.type, target),
        source=source,
        target=target,
        type=EdgeType(link.type),
        confidence=link.confidence,
        source_quote=link.target_quote if turned else link.source_quote,
        target_quote=link.source_quote if turned else link.target_quote,
        reason=link.reason,
    )


def edge_id_of(namespace: str, source: str, edge_type: str, target: str) -> str:
    """Return the id of the edge of this type between the ends from `stored_ends`, whoever draws it."""
    return _digest(namespace, source, edge_type, target)


def correction_uid(namespace: str, uid: str) -> str:
    """Return the uid of the fact that corrects the fact `uid`: one fact has one correction."""
    return f"f-{_digest(namespace, 'correction', uid)}"


def stored_ends(source: str, edge_type: str, target: str) -> tuple[str, str]:
    """Return source and target as stored: RELATES_TO has no direction and runs from the lower to the higher uid."""
    if edge_type == EdgeType.RELATES_TO and source > target:
        return target, source
    return source, target


def shared_fields(row_class: type[ItemIn], item_class: ItemClass) -> tuple[str, ...]:
    """Return the fields that a row and its item share with the same meaning."""
    kept = stored_fields(item_class).keys() - _IDENTITY
    return tuple(name for name in row_class.__struct_fields__ if name in kept)


def _item(
    item_class: type[Memory] | type[Fact] | type[Message],
    namespace: str,
    row: ItemIn,
    *,
    search_text: str,
    **derived: Any,
) -> NewItem:
    """Return the item with every field shared with the row, except derived ones."""
    taken = {name: getattr(row, name) for name in shared_fields(type(row), item_class)} | derived
    text = taken["text"]
    if not text.strip():
        raise InvalidInput("text holds no visible character", field="$.text")
    if row.pinned and row.expires_at is not None:
        raise InvalidInput("a pinned item cannot expire; set only one of pinned and expires_at", field="$.expires_at")
    taken |= {"name": _title(row, text) or caption_of(without_sections(text)), "tags": tuple(dict.fromkeys(row.tags))}
    taken["attributes"] = msgspec.json.encode(row.attributes).decode() if row.attributes else None
    taken |= {"expires_at": as_utc(row.expires_at), "pinned": row.pinned or None}
    return NewItem(item_class(namespace=namespace, **taken), search_text, has_cjk(search_text))


def sentence(subject: str | None, predicate: str | None, object_: str | None) -> str | None:
    """Return the text of a fact without its own; None unless all three parts are given."""
    return f"{subject} {predicate} {object_}" if subject and predicate and object_ else None


def _references(row: FactIn | MemoryIn) -> tuple[str, ...]:
    """Return the row's distinct evidence references. Raises InvalidInput for a file without lines."""
    for ref in row.evidence:
        try:
            cited_lines(ref)
        except ValueError as error:
            raise InvalidInput(str(error), field="$.evidence") from None
    return tuple(dict.fromkeys(row.evidence))


def _said(row: FactIn) -> str:
    said = sentence(row.subject, row.predicate, row.object)
    if said is None:
        raise InvalidInput("a fact needs text, or subject, predicate and object", field="$.text")
    return said


def _title(row: ItemIn, text: str) -> str | None:
    """Return the row's name in its stored form; None if the text gives the same."""
    name = caption_of(row.name or "")
    return name if name and name not in (caption_of(text), caption_of(without_sections(text))) else None


def _subject_if_unsaid(row: FactIn, text: str) -> str | None:
    return row.subject if row.subject and row.subject.casefold() not in text.casefold() else None


def _cleaned(row: R) -> R:
    """Return `row` with every text and list of texts in a form the graph can store."""
    cleaned: dict[str, Any] = {}
    for name in row.__struct_fields__:
        match getattr(row, name):
            case str(text):
                cleaned[name] = clean(text)
            case list(texts):
                cleaned[name] = [clean(text) for text in texts]
    return msgspec.structs.replace(row, **cleaned)


def as_utc(moment: datetime | None) -> datetime | None:
    """Return `moment` in UTC; without an offset it counts as UTC. Raises InvalidInput outside of the years of UTC."""
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
    """Return 24 hexadecimal digits (96 bits) of the parts, delimited and with None distinct from any text."""
    encoded = msgspec.json.encode([None if part is None else str(part) for part in parts])
    return hashlib.sha256(encoded).hexdigest()[:24]


def row_of(item: Item) -> ItemIn:
    """Return the smallest row, without a uid, that builds `item`.

    A value equal to its derived default (a fact's text, a name) counts as derived, so that it follows changes of its
    source. Raises Conflict for a file chunk, which no row describes.
    """
    match item:
        case Message():
            return _row(MessageIn, item, message_id=_unless(item.message_id, item.uid))
        case Fact():
            return fact_row(item)
        case Memory():
            return memory_row(item)
        case FileChunk():
            raise Conflict("a file chunk follows its file", remedy="Change the file and index it again.")


def fact_row(fact: Fact) -> FactIn:
    """Return the row of a fact, as `row_of` does."""
    said = sentence(fact.subject, fact.predicate, fact.object)
    return _row(
        FactIn,
        fact,
        text=_unless(fact.text, said),
        fact_object=_unless(fact.fact_object, fact.object),
        relationship_type=_unless(fact.relationship_type, fact.predicate),
        valid_to=_unless(fact.valid_to, FOREVER),
        evidence=list(fact.evidence_refs),
        supersedes=list(fact.supersedes_refs),
    )


def memory_row(memory: Memory) -> MemoryIn:
    """Return the row of a memory, as `row_of` does."""
    return _row(MemoryIn, memory, evidence=list(memory.evidence_refs))


def rewritten(item: Memory | Fact) -> NewItem:
    """Return a changed memory or fact with the search text and labels that an ingest would give it. Its source stays,
    so that ingesting that again does not undo the change.
    """
    new = RowBuilder().item(item.namespace, msgspec.structs.replace(row_of(item), uid=item.uid))
    return replace(new, item=replace(item, source_hash=item.source_hash or new.item.source_hash))


def _row(row_class: type[R], item: Item, **derived: Any) -> R:
    """Return the row with every field shared with the item, except those given."""
    taken = {name: getattr(item, name) for name in shared_fields(row_class, type(item))}
    made_of_text = item.name in (caption_of(item.text), caption_of(without_sections(item.text)))
    common = {"name": None if made_of_text else item.name, "tags": list(item.tags)}
    common["attributes"] = msgspec.json.decode(item.attributes or "{}")
    return row_class(**taken | common | derived)


def _unless(value: Any, derived: Any) -> Any:
    return None if value == derived else value
