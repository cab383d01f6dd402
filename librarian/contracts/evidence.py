"""What supports a fact, on the wire."""

from msgspec import Struct

from librarian.contracts.fields import Time


class Evidence(Struct, kw_only=True, omit_defaults=True):
    """A message, or a part of a file, that supports a fact or memory; `start` and `end` are the cited lines."""

    uid: str
    message_id: str | None
    author_name: str | None
    content: str
    sent_at: Time | None
    path: str | None = None
    start: int | None = None
    end: int | None = None
