"""Items as callers see them: one, a page of many, and the history of one."""

from collections.abc import Mapping
from typing import Any

from graph import items as graph
from graph.executor import Executor
from graph.search import hydrate
from graph.types import FoundItem
from librarian import cursors
from librarian.contracts.changes import RevisionList, RevisionOut
from librarian.contracts.items import ItemOut
from librarian.contracts.listing import ItemList, ItemQuery
from librarian.errors import InvalidInput, NotFound
from librarian.usecases.search import item_filter
from librarian.usecases.search_results import attributes_of, evidence_of, open_end

_OWN_FIELDS = frozenset(
    {"namespace", "uid", "kind", "name", "text", "occurred_at", "created_at", "version", "valid_to", "attributes"}
)
_INTERNAL = frozenset({"source_hash", "evidence_refs", "supersedes_refs", "tokens", "search_text"})
_OF_REVISION = frozenset({"revision_id", "reason", "actor", "revised_at"})


async def get_item(executor: Executor, namespace: str, uid: str) -> ItemOut:
    """The item `uid` of `namespace`. Raises NotFound, also for an item of another namespace."""
    found = await hydrate(executor, namespace, [uid])
    if not found:
        raise no_item(namespace)
    return item_out(found[0])


async def list_items(executor: Executor, namespace: str, query: ItemQuery) -> ItemList:
    """One page of the items that pass the filters. Raises InvalidInput for a cursor of another query."""
    listed = await graph.list_items(
        executor, item_filter(namespace, query), query.order, limit=query.limit + 1, after=_position(query)
    )
    page = listed[: query.limit]
    more = len(listed) > len(page)
    return ItemList(
        items=[item_out(one.item) for one in page],
        next_cursor=cursors.encode(query, [page[-1].created_at, page[-1].item.uid]) if more else None,
    )


async def revisions(executor: Executor, namespace: str, uid: str) -> RevisionList:
    """What the item was before each of its changes, newest first. Raises NotFound."""
    found = await graph.list_revisions(executor, namespace, uid)
    if found is None:
        raise no_item(namespace)
    return RevisionList(uid=uid, revisions=[_revision(properties) for properties in found])


def no_item(namespace: str) -> NotFound:
    """The error for a uid that `namespace` does not have; one of another namespace looks the same."""
    return NotFound(f"no item has this uid in namespace {namespace!r}", field="uid")


def item_out(found: FoundItem) -> ItemOut:
    """A stored item for the wire."""
    properties = found.properties
    return ItemOut(
        uid=found.uid,
        kind=found.kind.value,
        namespace=properties["namespace"],
        name=properties["name"],
        text=properties["text"],
        occurred_at=properties.get("occurred_at"),
        created_at=properties["created_at"],
        version=properties.get("version", 1),
        properties=_shown(properties),
        evidence=evidence_of(found),
    )


def _shown(properties: Mapping[str, Any]) -> dict[str, Any]:
    """What the item's kind adds to the fields that all items have."""
    own = {name: value for name, value in properties.items() if name not in _OWN_FIELDS | _INTERNAL}
    if (valid_to := open_end(properties.get("valid_to"))) is not None:
        own["valid_to"] = valid_to
    if attributes := attributes_of(properties):
        own["attributes"] = attributes
    return own


def _revision(properties: Mapping[str, Any]) -> RevisionOut:
    shown = _shown({name: value for name, value in properties.items() if name not in _OF_REVISION})
    return RevisionOut(
        revision_id=properties["revision_id"],
        version=properties["version"],
        name=properties["name"],
        text=properties["text"],
        properties=shown,
        reason=properties["reason"],
        actor=properties.get("actor"),
        revised_at=properties["revised_at"],
    )


def _position(query: ItemQuery) -> graph.Position | None:
    if query.cursor is None:
        return None
    match cursors.decode(query, query.cursor):
        case [time, uid]:
            return time, uid
        case _:
            raise InvalidInput("this is no cursor", field="$.cursor")
