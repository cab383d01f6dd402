"""Reads items for callers: one, a page, and the history of one."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import msgspec
from msgspec import convert

from graph import items as graph
from graph.executor import Executor
from graph.item import Fact, Item, held_at, loss_of, replaced_by, stored_fields
from graph.items import Revision
from graph.search import as_known, hydrate
from graph.support import impact_of
from graph.types import FOREVER, Impacted, Loss
from librarian.base import cursors
from librarian.base.errors import NotFound
from librarian.base.fields import Attribute
from librarian.items.contracts import (
    Evidence,
    ImpactedItem,
    ImpactOutput,
    ItemList,
    ItemOut,
    ItemQuery,
    LedToItem,
    Moments,
    PreviewItem,
    RevisionList,
    RevisionOut,
    Unsupported,
)
from librarian.items.filters import item_filter
from librarian.items.rows import as_utc

NOW = Moments()


async def get_item(executor: Executor, namespace: str, uid: str, moments: Moments = NOW) -> ItemOut:
    """Return the item `uid` of `namespace`. Raises NotFound, also for an item of another namespace, and for one that
    was not stored or not true at the requested moment.
    """
    found: Sequence[Item] = await hydrate(executor, namespace, [uid])
    as_of, known_at = as_utc(moments.as_of), as_utc(moments.known_at)
    if known_at is not None:
        found = await as_known(executor, namespace, found, known_at)
    if not found or (as_of is not None and not held_at(found[0], as_of)):
        raise no_item(namespace)
    return item_out(found[0], as_of)


async def list_items(executor: Executor, namespace: str, query: ItemQuery) -> ItemList:
    """Return one page of the items that pass the filters. Raises InvalidInput for a cursor of another query."""
    listed = await graph.list_items(
        executor, item_filter(namespace, query), query.order, limit=query.limit + 1, after=_position(namespace, query)
    )
    page, cursor = cursors.page(namespace, query, listed, query.limit, lambda last: [last.created_at, last.item.uid])
    items: Sequence[Item] = [listed.item for listed in page]
    if query.known_at is not None:
        items = await as_known(executor, namespace, items, as_utc(query.known_at) or query.known_at)
    return ItemList(items=[item_out(item, as_utc(query.as_of)) for item in items], next_cursor=cursor)


async def revisions(executor: Executor, namespace: str, uid: str) -> RevisionList:
    """Return the item before each of its changes, newest first. Raises NotFound."""
    found = await graph.list_revisions(executor, namespace, uid)
    if found is None:
        raise no_item(namespace)
    return RevisionList(uid=uid, revisions=[_revision(revision) for revision in found])


def no_item(namespace: str) -> NotFound:
    """Return the error for a uid missing in `namespace`; one of another namespace looks the same."""
    return NotFound(f"no item has this uid in namespace {namespace!r}", field="uid")


def item_out(item: Item, as_of: datetime | None = None) -> ItemOut:
    """Return a stored item in its wire form, with the state of its support as of a moment (None: now)."""
    now = as_of or datetime.now(UTC)
    return ItemOut(
        uid=item.uid,
        kind=item.kind.value,
        namespace=item.namespace,
        name=item.name,
        text=item.text,
        occurred_at=item.occurred_at,
        created_at=item.created_at,
        version=item.version,
        properties=properties_of(item),
        evidence=evidence_of(item),
        unsupported=unsupported_of(loss_of(item, now)),
        superseded_by=replaced_by(item, now),
    )


def unsupported_of(loss: Loss | None) -> Unsupported | None:
    """Return why an item is unsupported, in its wire form."""
    return None if loss is None else Unsupported(since=loss.since, because=loss.reason.value, way=list(loss.way))


async def impact(executor: Executor, namespace: str, uid: str) -> ImpactOutput:
    """Return the consequences for dependent items if the item became invalid. Raises NotFound."""
    if not await hydrate(executor, namespace, [uid]):
        raise no_item(namespace)
    found = await impact_of(executor, namespace, [uid], datetime.now(UTC))
    return ImpactOutput(
        uid=uid,
        unsupported=[convert(asdict(item), ImpactedItem) for item in found.unsupported],
        supported=previews(found.supported),
        leads_to=[convert(asdict(led), LedToItem) for led in found.leads_to],
    )


def previews(found: Sequence[Impacted]) -> list[PreviewItem]:
    """Return dependent items with their names."""
    return [convert({"uid": item.uid, "kind": item.kind, "name": item.name}, PreviewItem) for item in found]


def _revision(revision: Revision) -> RevisionOut:
    return RevisionOut(
        revision_id=revision.revision_id,
        version=revision.item.version,
        name=revision.item.name,
        text=revision.item.text,
        properties=properties_of(revision.item),
        reason=revision.reason,
        actor=revision.actor,
        revised_at=revision.revised_at,
    )


def _position(namespace: str, query: ItemQuery) -> graph.Position | None:
    if query.cursor is None:
        return None
    match cursors.decode(namespace, query, query.cursor):
        case [time, uid]:
            return time, uid
        case _:
            raise cursors.invalid()


# Fields of `ItemOut` itself, and internal ones.
_NOT_AMONG_PROPERTIES = frozenset(
    {"namespace", "uid", "name", "text", "occurred_at", "created_at", "version", "valid_to", "attributes"}
    | {"source_hash", "evidence_refs", "supersedes_refs"}
    | {"support_ends", "support_lost", "support_way", "lost_refs", "lost_at", "replaced_by", "replaced_at"}
)


def properties_of(item: Item) -> dict[str, Any]:
    """Return the fields of an item beyond those of `ItemOut`, without empty ones."""
    names = stored_fields(type(item)).keys() - _NOT_AMONG_PROPERTIES
    shown = {name: plain(getattr(item, name)) for name in sorted(names)}
    shown["attributes"] = attributes_of(item)
    if isinstance(item, Fact):
        shown["valid_to"] = open_end(item.valid_to)
    return {name: value for name, value in shown.items() if value is not None and value != [] and value != {}}


def evidence_of(item: Item) -> list[Evidence]:
    """Return the evidence of a fact or memory."""
    return [
        Evidence(
            uid=source.uid,
            message_id=source.message_id,
            author_name=source.author_name,
            content=source.text,
            sent_at=source.sent_at,
            path=source.path,
            start=source.start_line,
            end=source.end_line,
        )
        for source in item.evidence
    ]


def attributes_of(item: Item) -> dict[str, Attribute]:
    """Return an item's attributes, which the graph stores as JSON because nodes cannot hold maps."""
    return msgspec.json.decode(item.attributes, type=dict[str, Attribute]) if item.attributes else {}


def open_end(valid_to: datetime | None) -> datetime | None:
    """Return the end of a fact's validity; the sentinel for "still valid" becomes None."""
    return None if valid_to is None or valid_to >= FOREVER else valid_to


def plain(value: Any) -> Any:
    """Return a value in its contract form: lists for tuples."""
    return list(value) if isinstance(value, tuple) else value
