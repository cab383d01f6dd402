"""Clients of a running service, with the verbs of `librarian.Librarian`: one synchronous, one for asyncio."""

from librarian.client.clients import AsyncLibrarianClient, LibrarianClient
from librarian.client.errors import ApiError, ServiceUnreachable

__all__ = ["ApiError", "AsyncLibrarianClient", "LibrarianClient", "ServiceUnreachable"]
