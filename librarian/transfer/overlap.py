"""Overlaps reading and writing: the database works on one portion while we work on another."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")


async def one_ahead(produce: Callable[[], Awaitable[T | None]], consume: Callable[[T], Awaitable[None]]) -> None:
    """Consume the portions of `produce` in turn until it returns None, producing the next one meanwhile."""
    coming = asyncio.ensure_future(produce())
    try:
        while (produced := await coming) is not None:
            coming = asyncio.ensure_future(produce())
            await consume(produced)
    finally:
        coming.cancel()
        await asyncio.gather(coming, return_exceptions=True)
