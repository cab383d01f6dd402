"""Listing items: one page after another, by the time they were stored."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from librarian.contracts.fields import Cursor, PageSize
from librarian.contracts.filters import Filters
from librarian.contracts.items import ItemOut

Order = Literal["newest", "oldest"]


class ItemQuery(Filters, kw_only=True):
    """Which items to list; all filters of a search. Order is by `created_at`, then uid.

    `cursor` is the `next_cursor` of the page before, sent with the same filters and order.
    """

    order: Annotated[Order, Meta(description="Which come first, by `created_at`.")] = "newest"
    limit: PageSize = 50
    cursor: Cursor | None = None


class ItemList(Struct, kw_only=True):
    """One page; `next_cursor` is null on the last one."""

    items: list[ItemOut]
    next_cursor: str | None
