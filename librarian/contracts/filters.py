"""Filters: which items a search, a listing, a deletion or a sweep may touch."""

from msgspec import Struct

from librarian.contracts.fields import (
    Agent,
    AllTags,
    AsOf,
    Authors,
    ConversationId,
    Domain,
    Kinds,
    MemoryTypes,
    OccurredFrom,
    OccurredTo,
    PathPrefix,
    PersonId,
    SessionId,
)


class Filters(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """Which items may be found; every given filter must hold. Null means any.

    `occurred_from`/`occurred_to` bound when an item happened (both inclusive; UTC without an offset); `as_of` keeps
    facts valid at that moment, superseded ones included.
    """

    kinds: Kinds | None = None
    types: MemoryTypes | None = None
    authors: Authors | None = None
    conversation_id: ConversationId | None = None
    session_id: SessionId | None = None
    person_id: PersonId | None = None
    domain: Domain | None = None
    tags: AllTags | None = None
    agent: Agent | None = None
    path_prefix: PathPrefix | None = None
    occurred_from: OccurredFrom | None = None
    occurred_to: OccurredTo | None = None
    as_of: AsOf | None = None
