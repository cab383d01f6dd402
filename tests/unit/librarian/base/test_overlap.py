import asyncio
from contextlib import aclosing

import pytest

from librarian.base.overlap import one_ahead


async def test_the_next_portion_is_made_while_one_is_used():
    made: list[int] = []

    async def produce() -> int | None:
        made.append(len(made))
        return made[-1] if made[-1] < 3 else None

    used = []
    async with aclosing(one_ahead(produce)) as ahead:
        async for portion in ahead:
            await asyncio.sleep(0)
            used.append((portion, len(made)))
    assert used == [(0, 2), (1, 3), (2, 4)]


async def test_what_is_being_made_is_cancelled_when_nobody_wants_it():
    cancelled = asyncio.Event()
    first = True

    async def produce() -> str | None:
        nonlocal first
        if first:
            first = False
            return "first"
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise
        return None

    async with aclosing(one_ahead(produce)) as ahead:
        async for _ in ahead:
            await asyncio.sleep(0)
            break
    assert cancelled.is_set()


async def test_a_failure_comes_after_the_portions_before_it():
    made = 0

    async def produce() -> int | None:
        nonlocal made
        made += 1
        if made == 2:
            raise LookupError
        return made

    async with aclosing(one_ahead(produce)) as ahead:
        assert await anext(ahead) == 1
        with pytest.raises(LookupError):
            await anext(ahead)
