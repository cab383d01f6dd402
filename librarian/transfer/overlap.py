"""Reading and writing at the same time: the database works on one portion while we work on another."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")


async def one_ahead(produce: Callable[[], Awaitable[T | None]], consume: Callable[[T], Awaitable[None]]) -> None:
    """Consume one after another what `produce` gives until it gives None; the next is produced meanwhile."""
    coming = asyncio.ensure_future(produce())
    try:
        while (produced := await coming) is not None:
            coming = asyncio.ensure_future(produce())
            await consume(produced)
    finally:
        coming.cancel()
        await asyncio.gather(coming, return_exceptions=True)
