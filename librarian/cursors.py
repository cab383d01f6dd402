"""Opaque cursors: where one page ended, bound to the query it belongs to.

A cursor is no secret and proves nothing: whoever alters one only begins a page elsewhere in what they may see anyway.
"""

import base64
import hashlib

import msgspec
from msgspec import Struct

from librarian.errors import InvalidInput

# The next page may be of another size.
_NO_CONDITIONS = ("cursor", "limit")
_DIGEST_CHARS = 12
_REMEDY = "Send `next_cursor` of the page before with the same conditions, or no cursor for the first page."


def encode(query: Struct, position: list[str]) -> str:
    """The cursor of the page that begins behind `position`: the sort key of the last row before it."""
    plain = msgspec.json.encode([_digest(query), *position])
    return base64.urlsafe_b64encode(plain).rstrip(b"=").decode()


def decode(query: Struct, cursor: str) -> list[str]:
    """The position that `encode` put in. Raises InvalidInput for a cursor of another query, or what is none."""
    try:
        padded = cursor.encode("ascii") + b"=" * (-len(cursor) % 4)
        plain = base64.b64decode(padded, altchars=b"-_", validate=True)
        digest, *position = msgspec.json.decode(plain, type=list[str])
    except ValueError:
        raise InvalidInput("this is no cursor", field="$.cursor", remedy=_REMEDY) from None
    if digest != _digest(query):
        raise InvalidInput("this cursor belongs to another query", field="$.cursor", remedy=_REMEDY)
    return position


def _digest(query: Struct) -> str:
    conditions = msgspec.to_builtins(query)
    for name in _NO_CONDITIONS:
        conditions.pop(name, None)
    return hashlib.sha256(msgspec.json.encode(conditions, order="deterministic")).hexdigest()[:_DIGEST_CHARS]
