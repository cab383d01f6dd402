"""Bookmarks: marks of committed work, with which a later statement waits until the server that runs it knows that work.

A cluster's members follow one another, so a read may reach one that has not heard of a write yet. Statements of one
executor know of one another; work of another process is known by the bookmarks that it hands on (`Chain`).
"""

import time
from collections.abc import Callable, Collection
from contextvars import ContextVar

from neo4j.api import AsyncBookmarkManager

KEPT_S = 30.0


class Chain:
    """What one piece of work, such as a request, builds on, and what it has committed itself.

    `known` holds bookmarks that stand for all of it; `wrote` says whether it has committed a write.
    """

    def __init__(self) -> None:
        self.known: frozenset[str] = frozenset()
        self.wrote = False

    def follow(self, bookmarks: Collection[str]) -> None:
        """Build on work of others."""
        self.known |= frozenset(bookmarks)

    def replace(self, before: Collection[str], after: Collection[str]) -> None:
        """`after` stands for `before` and for what was done since."""
        self.known = (self.known - frozenset(before)) | frozenset(after)


chain: ContextVar[Chain | None] = ContextVar("chain", default=None)
"""The chain of this context's work; None: it hands nothing on."""


class Causality(AsyncBookmarkManager):
    """The bookmarks of one executor, and of the chain in whose context a statement runs.

    What the executor has seen counts for KEPT_S seconds: a member that lags longer is broken, and a database that was
    restored meanwhile would be waited for in vain.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._own = Chain()
        self._seen_at = clock()

    async def get_bookmarks(self) -> frozenset[str]:
        """Return what the next statement has to wait for; asked by the driver."""
        self._drop_old()
        current = chain.get()
        return self._own.known if current is None else self._own.known | current.known

    async def update_bookmarks(self, previous_bookmarks: Collection[str], new_bookmarks: Collection[str]) -> None:
        """A statement that waited for `previous_bookmarks` has ended; told by the driver."""
        self._drop_old()
        self._seen_at = self._clock()
        self._own.replace(previous_bookmarks, new_bookmarks)
        if (current := chain.get()) is not None:
            current.replace(previous_bookmarks, new_bookmarks)

    def forget(self) -> None:
        """The database may be another one than before: nothing is to be waited for."""
        self._own = Chain()

    def _drop_old(self) -> None:
        if self._clock() - self._seen_at >= KEPT_S:
            self.forget()


def wrote() -> None:
    """A write was committed in this context."""
    if (current := chain.get()) is not None:
        current.wrote = True
