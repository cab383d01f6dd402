"""The change feed in the graph: one order for all writers, without a gap, that is the order of commits."""

import asyncio
import contextlib
import random

import pytest

from graph import feed
from graph.errors import ChangesGone


async def followed(executor, namespace, done):
    """Follow from the beginning in pages of random size, each from the cursor's text; return what came when `done` and
    nothing is left.
    """
    seen, cursor = [], "0"
    while True:
        ended = done.is_set()
        after = feed.Cursor.read(cursor)
        await feed.check(executor, namespace, after)
        page = await feed.read(executor, namespace, after, random.randint(1, 7))
        seen += page.entries
        cursor = str(page.cursor)
        if ended and not page.more:
            return seen
        await asyncio.sleep(0 if page.entries else 0.002)


async def test_writers_at_once_leave_no_gap(ingest, librarian, executor, namespace):
    """Six writers and two followers: each follower sees every change that was acknowledged once, numbered from 1 on."""
    done = asyncio.Event()
    followers = [asyncio.create_task(followed(executor, namespace, done)) for _ in range(2)]
    batches = [[f"w{writer}-{n}-{row}" for row in range(3)] for writer in range(6) for n in range(8)]
    await asyncio.gather(
        *(ingest(*({"kind": "memory", "uid": uid, "text": uid} for uid in uids), embed=False) for uids in batches)
    )
    done.set()
    wanted = {uid for uids in batches for uid in uids}
    for follower in followers:
        seen = await follower
        assert [entry.cursor.seq for entry in seen] == list(range(1, len(wanted) + 1))
        assert {entry.change.uid for entry in seen} == wanted


async def test_a_writer_that_commits_late_gets_the_later_number(executor, namespace):
    """Nobody gets a number while another one's is not committed, and a transaction that ends without a commit takes
    none.
    """
    async with contextlib.AsyncExitStack() as stack:
        early = await stack.enter_async_context(executor.driver.session())
        transaction = await early.begin_transaction()
        given = {"namespace": namespace, "changes": ['{"kind":"memory"}']}
        _, text = executor.prepare("record_changes", given, {})
        await (await transaction.run(text, given=given)).consume()
        late = asyncio.create_task(executor.write("record_changes", {"namespace": namespace, "changes": ["{}"]}))
        await asyncio.sleep(0.2)
        assert (await feed.head(executor, namespace)).seq == 0
        assert not late.done()
        await transaction.rollback()
        await late
    assert (await feed.head(executor, namespace)).seq == 1


async def test_a_cursor_of_another_history_is_refused(ingest, executor, namespace):
    """A restored graph has seen other changes since than the cursor's owner."""
    await ingest({"kind": "memory", "uid": "a", "text": "one"}, embed=False)
    known = await feed.head(executor, namespace)
    await feed.check(executor, namespace, known)
    for wrong in (feed.Cursor(known.seq, "00000000"), feed.Cursor(known.seq + 1, known.tag)):
        with pytest.raises(ChangesGone):
            await feed.check(executor, namespace, wrong)


async def test_old_changes_go_and_the_last_stays(ingest, executor, namespace):
    """A cursor behind which something was deleted is refused; the newest one is good for ever."""
    for uid in "abc":
        await ingest({"kind": "memory", "uid": uid, "text": f"note {uid}"}, embed=False)
    page = await feed.read(executor, namespace, feed.Cursor(), 10)
    await executor.driver.execute_query(
        "MATCH (s:ChangeSet {namespace: $ns}) SET s.at = s.at - duration('PT3H')", ns=namespace
    )
    await feed.delete_old_changes(executor, 2)
    await feed.check(executor, namespace, page.cursor)
    for gone in (feed.Cursor(), page.entries[0].cursor):
        with pytest.raises(ChangesGone):
            await feed.check(executor, namespace, gone)
