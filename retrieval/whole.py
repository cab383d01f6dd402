"""Reads small namespaces whole: if all items can be judged, none has to be found by its words or vector first."""

import time
from collections.abc import Callable

from graph.executor import Executor
from graph.search import items_of_small_namespace
from graph.types import ItemFilter

WHOLE = "whole"
"""The ranking, without scores, of all items of a small namespace."""

SMALL = 200
"""Items of a namespace that are judged without having been found."""

_LARGE_FOR_S = 300.0
_MAX_NAMESPACES = 10_000


class SmallNamespaces:
    """Reads small namespaces whole, and caches for some minutes which are large."""

    def __init__(self, executor: Executor, clock: Callable[[], float] = time.monotonic) -> None:
        self._executor = executor
        self._clock = clock
        self._large: dict[str, float] = {}

    async def items(self, where: ItemFilter) -> list[str]:
        """Return the uids of all items that pass `where`; none for a large namespace."""
        now = self._clock()
        if now - self._large.get(where.namespace, -_LARGE_FOR_S) < _LARGE_FOR_S:
            return []
        found = await items_of_small_namespace(self._executor, where, SMALL)
        if found is not None:
            return found
        if len(self._large) >= _MAX_NAMESPACES:
            self._large.clear()
        self._large[where.namespace] = now
        return []
