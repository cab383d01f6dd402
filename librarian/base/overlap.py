"""Overlaps reading and writing: one portion is made while another is used."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")


async def one_ahead(produce: Callable[[], Awaitable[T | None]]) -> AsyncGenerator[T, None]:
    """Yield the portions of `produce` in turn until it returns None, producing the next one while one is used.

    Whoever leaves early closes it, which cancels the production.
    """
    coming = asyncio.ensure_future(produce())
    try:
        while (produced := await coming) is not None:
            coming = asyncio.ensure_future(produce())
            yield produced
    finally:
        coming.cancel()
        await asyncio.gather(coming, return_exceptions=True)
