"""Converts the filters of requests for the graph."""

from collections.abc import Sequence
from datetime import datetime

from graph.types import ItemFilter, Kind
from librarian.base.errors import InvalidInput
from librarian.items.contracts import Filters
from librarian.items.rows import as_utc


def item_filter(namespace: str, filters: Filters | None, kinds: Sequence[Kind] = tuple(Kind)) -> ItemFilter:
    """Return `filters` in the graph's form; `kinds` apply if they name none. Raises InvalidInput."""
    if filters is None:
        return ItemFilter(namespace, tuple(kinds))
    given = {
        name: value
        for name in Filters.__struct_fields__
        if (value := getattr(filters, name)) is not None and name != "kinds"
    }
    for moment in ("occurred_from", "occurred_to", "as_of", "known_at"):
        if moment in given:
            given[moment] = as_utc(given[moment])
    in_order(given.get("occurred_from"), given.get("occurred_to"), "$.filters" if type(filters) is Filters else "$")
    named = tuple(Kind(kind) for kind in filters.kinds) if filters.kinds else tuple(kinds)
    return ItemFilter(namespace, named, **given)


def in_order(occurred_from: datetime | None, occurred_to: datetime | None, where: str = "$") -> None:
    """Raise InvalidInput for a period that ends before it begins; `where` is the path of its fields' parent."""
    if occurred_from is not None and occurred_to is not None and occurred_to < occurred_from:
        raise InvalidInput(
            f"occurred_to ({occurred_to.isoformat()}) is earlier than occurred_from ({occurred_from.isoformat()})",
            field=f"{where}.occurred_to",
            remedy="Exchange them, or leave one out.",
        )
