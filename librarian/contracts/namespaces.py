"""Namespaces on the wire."""

from msgspec import Struct

from librarian.contracts.fields import ConfirmToken, Kind


class NamespaceOut(Struct, kw_only=True):
    """One namespace: its items, by kind, and how many of them still wait for their vectors."""

    namespace: str
    items: int
    by_kind: dict[Kind, int]
    pending_embeddings: int


class NamespaceList(Struct, kw_only=True):
    """The namespaces that the caller may see."""

    namespaces: list[NamespaceOut]


class DeleteNamespaceInput(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """Without `confirm_token` nothing is deleted: the answer is a preview with the token to send."""

    confirm_token: ConfirmToken | None = None
