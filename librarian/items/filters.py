"""Converts the filters of requests for the graph."""

from collections.abc import Sequence

from graph.types import ItemFilter, Kind
from librarian.items.contracts import Filters
from librarian.items.rows import as_utc


def item_filter(namespace: str, filters: Filters | None, kinds: Sequence[Kind] = tuple(Kind)) -> ItemFilter:
    """Return `filters` in the graph's form; `kinds` apply if they name none."""
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
    named = tuple(Kind(kind) for kind in filters.kinds) if filters.kinds else tuple(kinds)
    return ItemFilter(namespace, named, **given)
