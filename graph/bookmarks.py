"""Bookmarks of committed work: a later statement waits until its server has seen that work.

Members of a cluster lag behind one another, so a read may reach one that has not seen a write yet. Statements of one
executor see one another's work; that of other processes is known by the bookmarks they pass on (`Chain`).
"""

import time
from collections.abc import Callable, Collection
from contextvars import ContextVar

from neo4j.api import AsyncBookmarkManager

KEPT_S = 30.0


class Chain:
    """Bookmarks that one piece of work, such as a request, depends on, its own commits included.

    `known` holds bookmarks that cover all of it; `wrote` tells whether it has committed a write.
    """

    def __init__(self) -> None:
        self.known: frozenset[str] = frozenset()
        self.wrote = False

    def follow(self, bookmarks: Collection[str]) -> None:
        """Wait for the work behind `bookmarks` too."""
        self.known |= frozenset(bookmarks)

    def replace(self, before: Collection[str], after: Collection[str]) -> None:
        """Replace `before` by `after`, which also covers the work done since."""
        self.known = (self.known - frozenset(before)) | frozenset(after)


chain: ContextVar[Chain | None] = ContextVar("chain", default=None)
"""The chain of the current context; None: no bookmarks are passed on."""


class Causality(AsyncBookmarkManager):
    """Bookmarks of one executor and of the chain in whose context a statement runs.

    Those of the executor count for KEPT_S seconds: a member that lags longer is broken, and bookmarks of a database
    restored since would never be reached.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._own = Chain()
        self._seen_at = clock()

    async def get_bookmarks(self) -> frozenset[str]:
        """Return the bookmarks the next statement waits for; called by the driver."""
        self._drop_old()
        current = chain.get()
        return self._own.known if current is None else self._own.known | current.known

    async def update_bookmarks(self, previous_bookmarks: Collection[str], new_bookmarks: Collection[str]) -> None:
        """Record the end of a statement that waited for `previous_bookmarks`; called by the driver."""
        self._drop_old()
        self._seen_at = self._clock()
        self._own.replace(previous_bookmarks, new_bookmarks)
        if (current := chain.get()) is not None:
            current.replace(previous_bookmarks, new_bookmarks)

    def forget(self) -> None:
        """Drop all bookmarks: the database may have been replaced."""
        self._own = Chain()

    def _drop_old(self) -> None:
        if self._clock() - self._seen_at >= KEPT_S:
            self.forget()


def wrote() -> None:
    """Record that this context has committed a write."""
    if (current := chain.get()) is not None:
        current.wrote = True
