"""Librarian keeps what an AI agent knows in one Neo4j graph and finds the right pieces again.

`from librarian import Librarian, Settings, open_librarian` is the Python interface; the names load on first use, so
that importing the package costs nothing.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from librarian.service import Librarian
    from librarian.settings import Settings
    from librarian.wiring import open_librarian

__all__ = ["Librarian", "Settings", "open_librarian"]

_HOMES = {
    "Librarian": "librarian.service",
    "Settings": "librarian.settings",
    "open_librarian": "librarian.wiring",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'librarian' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
