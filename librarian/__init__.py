"""Librarian keeps what an AI agent knows in one Neo4j graph and finds the right pieces again.

`from librarian import Librarian` is the Python interface, `librarian.client` talks to a running service; the names load
on first use, so that importing the package costs nothing.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from librarian.app import Librarian, open_librarian
    from librarian.base.settings.settings import Settings
    from librarian.search.contracts import MemoryHit
    from retrieval.answerness import score_hit_for_query
    from retrieval.context import format_hits_as_context

__all__ = [
    "Librarian",
    "MemoryHit",
    "Settings",
    "format_hits_as_context",
    "open_librarian",
    "score_hit_for_query",
]

_HOMES = {
    "Librarian": "librarian.app",
    "MemoryHit": "librarian.search.contracts",
    "Settings": "librarian.base.settings.settings",
    "format_hits_as_context": "retrieval.context",
    "open_librarian": "librarian.app",
    "score_hit_for_query": "retrieval.answerness",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'librarian' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
