"""How much of a request's time is left for the Professor."""

import asyncio

import pytest

from graph.executor import deadline
from librarian.agent.professor import time_left_s


@pytest.mark.parametrize("given_s", [0.1, 1.0, 4.0, 60.0])
async def test_at_most_a_quarter_of_the_time_is_kept_in_reserve(given_s):
    """A Professor that needs three seconds can be asked by a request of four."""
    token = deadline.set(asyncio.get_running_loop().time() + given_s)
    try:
        left_s = time_left_s()
    finally:
        deadline.reset(token)
    assert 0.75 * given_s <= left_s < given_s
