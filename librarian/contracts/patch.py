"""Changing some fields of an item: the shape of a merge patch, made from the rows."""

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from librarian.contracts.items import FactIn, MemoryIn, MessageIn

_IDENTITY = {"namespace", "uid"}


def _patchable() -> Iterator[tuple[str, Any, Any]]:
    """Every field of the rows but their identity: each may be left out, and null removes it."""
    types = {field.name: field.type for row in (MessageIn, FactIn, MemoryIn) for field in msgspec.structs.fields(row)}
    for name, type_ in types.items():
        if name not in _IDENTITY:
            yield name, type_ | None | UnsetType, UNSET


ItemPatch = msgspec.defstruct("ItemPatch", list(_patchable()), kw_only=True, forbid_unknown_fields=True)
ItemPatch.__doc__ = """A JSON merge patch (RFC 7396) over the fields of an item's row: null removes a field.

Only fields of the item's own kind can be set; kind and uid stay.
"""
