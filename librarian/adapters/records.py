"""Keeps a framework's records as items: tags to select them, paged reads, deletions."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from librarian.adapters.connection import Steps, ask
from librarian.client import ApiError
from librarian.items.contracts import IngestReport, ItemIn, ItemOut, ItemQuery
from librarian.search.contracts import Hit

PAGE = 500
MAX_HITS = 50
# Longer values are compared after the items are read.
_LONGEST_TAG = 100
_MOST_TAGS = 90
_OWN = frozenset({"content", "uid", "explanation", "evidence", "led_by", "unsupported"})


def field_tags(values: Mapping[str, Any]) -> list[str]:
    """Return the tags `name:value` of the short values among the first fields, to select records by.

    Equal values have equal tags; so do a few different ones, such as 1 and "1".
    """
    tags = (_tag(name, value) for name, value in values.items())
    return [tag for tag in tags if tag is not None][:_MOST_TAGS]


def _tag(name: str, value: Any) -> str | None:
    match value:
        case bool():
            text = str(value).lower()
        case int() | float():
            text = str(int(value)) if float(value).is_integer() else str(value)
        case str():
            text = value
        case _:
            return None
    tag = f"{name}:{text}"
    return tag if text and len(tag) <= _LONGEST_TAG and tag.isprintable() else None


def metadata_of(hit: Hit) -> dict[str, Any]:
    """Return the fields of a hit other than text and uid, without empty ones."""
    said: dict[str, Any] = {name: getattr(hit, name) for name in hit.__struct_fields__ if name not in _OWN}
    return {name: value for name, value in said.items() if value not in (None, [], {})}


def listed(
    namespace: str,
    query: ItemQuery,
    *,
    most: int | None = None,
    accept: Callable[[ItemOut], bool] = lambda _: True,
) -> Steps[list[ItemOut]]:
    """Return at most `most` items that pass the query and `accept`, in the query's order."""
    found: list[ItemOut] = []
    query = msgspec.structs.replace(query, limit=PAGE if most is None else max(1, min(PAGE, most)))
    while most is None or len(found) < most:
        page = yield from ask("list_items", namespace, query)
        found += filter(accept, page.items)
        if page.next_cursor is None:
            break
        query = msgspec.structs.replace(query, cursor=page.next_cursor)
    return found[:most]


def item_or_none(namespace: str, uid: str) -> Steps[ItemOut | None]:
    """Return an item, or None."""
    try:
        item: ItemOut = yield from ask("get_item", namespace, uid)
    except ApiError as error:
        if error.code != "not_found":
            raise
        return None
    return item


def delete(namespace: str, uids: Iterable[str]) -> Steps[None]:
    """Delete items so that they may be written again; missing ones are ignored."""
    for uid in uids:
        try:
            yield from ask("delete_item", namespace, uid, tombstones=False)
        except ApiError as error:
            if error.code != "not_found":
                raise


def keep(namespace: str, rows: Iterable[tuple[str, ItemIn]]) -> Steps[None]:
    """Store the valid rows by uid, all or none. Raises ApiError for an invalid or forgotten one."""
    encoded = [msgspec.to_builtins(msgspec.structs.replace(row, uid=uid)) for uid, row in rows]
    report: IngestReport = yield from ask("ingest", encoded, namespace=namespace)
    for error in report.errors:
        raise ApiError(422, error.code, f"row {error.line}: {error.message}", field=error.field)
    if report.held_back:
        raise ApiError(
            409,
            "item_forgotten",
            f"{report.held_back} of {report.total} were forgotten before and are held back",
            remedy="Somebody with an admin key may let them come back: librarian forgotten lift.",
        )
