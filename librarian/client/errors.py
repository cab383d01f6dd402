"""Errors of the clients."""

from librarian.base.errors import ApiError, ServiceUnreachable

__all__ = ["ApiError", "ServiceUnreachable"]
