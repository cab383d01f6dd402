"""Waits a limited time for an item that someone else is changing."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from graph.errors import ItemBusy

LOCK_PATIENCE_S = 10.0


class Patience:
    """Time left of LOCK_PATIENCE_S, over all attempts of one task."""

    def __init__(self) -> None:
        self._left_s = LOCK_PATIENCE_S

    @asynccontextmanager
    async def waiting(self) -> AsyncIterator[None]:
        """Take a lock in the block. Raises ItemBusy when the time is up."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        bounded = asyncio.timeout(self._left_s)
        try:
            async with bounded:
                yield
        except TimeoutError:
            if bounded.expired():
                raise ItemBusy from None
            raise
        finally:
            self._left_s -= loop.time() - began
