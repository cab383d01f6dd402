"""What supports a fact, on the wire."""

from msgspec import Struct

from librarian.contracts.fields import Time


class Evidence(Struct, kw_only=True):
    """A message or chunk that supports a fact."""

    uid: str
    message_id: str | None
    author_name: str | None
    content: str
    sent_at: Time | None
