"""Which bookmarks a statement waits for, and which a piece of work hands on."""

import asyncio

import pytest

from graph import bookmarks
from graph.bookmarks import KEPT_S, Causality, Chain, chain


@pytest.fixture
def mine():
    """The chain of this test's work."""
    token = chain.set(Chain())
    yield chain.get()
    chain.reset(token)


async def test_statements_of_one_executor_know_of_one_another():
    causality = Causality()
    await causality.update_bookmarks([], ["a"])
    assert await causality.get_bookmarks() == {"a"}
    await causality.update_bookmarks(["a"], ["b"])
    assert await causality.get_bookmarks() == {"b"}


async def test_work_waits_for_what_it_was_told_and_hands_on_what_stands_for_it(mine):
    causality = Causality()
    mine.follow(["from elsewhere"])
    before = await causality.get_bookmarks()
    assert before == {"from elsewhere"}
    await causality.update_bookmarks(before, ["b"])
    assert mine.known == {"b"}


async def test_statements_side_by_side_are_all_handed_on(mine):
    causality = Causality()
    await causality.update_bookmarks([], ["a"])
    await asyncio.gather(causality.update_bookmarks(["a"], ["b"]), causality.update_bookmarks(["a"], ["c"]))
    assert mine.known == {"b", "c"}


async def test_what_one_piece_of_work_was_told_concerns_no_other():
    """A bookmark that a client made up makes nobody else wait."""
    causality = Causality()

    async def reported():
        chain.set(Chain())
        chain.get().follow(["made up"])
        assert "made up" in await causality.get_bookmarks()

    await asyncio.create_task(reported())
    assert await causality.get_bookmarks() == set()


async def test_after_forgetting_nothing_is_waited_for():
    causality = Causality()
    await causality.update_bookmarks([], ["of a database that was replaced"])
    causality.forget()
    assert await causality.get_bookmarks() == set()


async def test_what_was_seen_long_ago_is_not_waited_for():
    """A database that was restored meanwhile does not know it; what is seen next counts again."""
    now = [0.0]
    causality = Causality(lambda: now[0])
    await causality.update_bookmarks([], ["old"])
    now[0] = KEPT_S - 1
    assert await causality.get_bookmarks() == {"old"}
    now[0] = KEPT_S
    assert await causality.get_bookmarks() == set()
    await causality.update_bookmarks([], ["new"])
    assert await causality.get_bookmarks() == {"new"}


def test_only_writes_are_marked(mine):
    assert not mine.wrote
    bookmarks.wrote()
    assert mine.wrote


def test_without_a_chain_nothing_is_handed_on():
    bookmarks.wrote()
    assert chain.get() is None
