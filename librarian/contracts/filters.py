"""Filters: which items a search, a listing, a deletion or a sweep may touch."""

from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct

from librarian.contracts.items import Kind, MemoryType, ShortText

Values = Annotated[list[ShortText], Meta(min_length=1, max_length=100)]


class Filters(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """Which items may be found; every given filter must hold. Null means any.

    `occurred_from`/`occurred_to` bound when an item happened (both inclusive; UTC without an offset); `as_of` keeps
    facts valid at that moment, superseded ones included.
    """

    kinds: Annotated[list[Kind], Meta(min_length=1, max_length=4)] | None = None
    types: Annotated[list[MemoryType], Meta(min_length=1, max_length=7)] | None = None
    authors: Values | None = None
    conversation_id: ShortText | None = None
    session_id: ShortText | None = None
    person_id: ShortText | None = None
    domain: ShortText | None = None
    tags: Values | None = None
    agent: ShortText | None = None
    path_prefix: ShortText | None = None
    occurred_from: datetime | None = None
    occurred_to: datetime | None = None
    as_of: datetime | None = None
