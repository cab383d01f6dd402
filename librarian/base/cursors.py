"""Opaque cursors: the end of a page, bound to its namespace and query.

A cursor is neither secret nor signed: altering it only moves the page within what the sender may see anyway.
"""

import base64
import hashlib
from collections.abc import Callable, Sequence
from typing import TypeVar

import msgspec
from msgspec import Struct

from librarian.base.errors import InvalidInput

T = TypeVar("T")

# The next page may have another size.
_NO_CONDITIONS = ("cursor", "limit")
_DIGEST_CHARS = 12
_REMEDY = (
    "Send `next_cursor` of the previous page with the same namespace and conditions, or no cursor for the first page."
)


def page(
    scope: str, query: Struct, rows: Sequence[T], limit: int, position_of: Callable[[T], list[str]]
) -> tuple[Sequence[T], str | None]:
    """Return the first `limit` of `rows`, and the cursor of the next page; None on the last page.

    `scope`: what is listed, a namespace or the name of a part of one. `rows` are read with a limit of `limit` + 1, to
    show whether more follow; `position_of` gives a row's sort key.
    """
    if len(rows) <= limit:
        return rows, None
    return rows[:limit], encode(scope, query, position_of(rows[limit - 1]))


def encode(scope: str, query: Struct, position: list[str]) -> str:
    """Return the cursor of the page that starts after `position`, the sort key of the last row before it."""
    plain = msgspec.json.encode([_digest(scope, query), *position])
    return base64.urlsafe_b64encode(plain).rstrip(b"=").decode()


def decode(scope: str, query: Struct, cursor: str) -> list[str]:
    """Return the position in a cursor. Raises InvalidInput for a damaged cursor, or one of another scope or query."""
    try:
        padded = cursor.encode("ascii") + b"=" * (-len(cursor) % 4)
        plain = base64.b64decode(padded, altchars=b"-_", validate=True)
        digest, *position = msgspec.json.decode(plain, type=list[str])
    except ValueError:
        raise invalid() from None
    if digest != _digest(scope, query):
        raise InvalidInput("the cursor belongs to another namespace or query", field="$.cursor", remedy=_REMEDY)
    return position


def invalid() -> InvalidInput:
    """Return the error for a cursor that is unreadable or does not fit the query."""
    return InvalidInput("invalid cursor", field="$.cursor", remedy=_REMEDY)


def _digest(scope: str, query: Struct) -> str:
    conditions = msgspec.to_builtins(query)
    for name in _NO_CONDITIONS:
        conditions.pop(name, None)
    return hashlib.sha256(
        msgspec.json.encode([scope, type(query).__name__, conditions], order="deterministic")
    ).hexdigest()[:_DIGEST_CHARS]
