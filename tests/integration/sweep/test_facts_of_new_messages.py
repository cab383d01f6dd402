"""Facts that messages state, proposed as they come in (LIBRARIAN_PROPOSE_FACTS)."""

import pytest

from graph import sweep as graph
from graph import sweep_writes as writes
from librarian.items.contracts import ItemQuery, MessageIn
from librarian.items.room import ItemsRoom
from librarian.items.succession import Declared
from librarian.sweep import reading
from librarian.sweep.contracts import ReviewQuery, SweepQuery, SweepRequest
from librarian.sweep.room import SweepsRoom

SAID = [
    MessageIn(uid="moved", author_name="Ines", text="Hi! We moved to Porto last month.", conversation_id="c"),
    MessageIn(uid="bought", author_name="Raj", text="I bought a new snare drum.", conversation_id="c"),
    MessageIn(uid="asked", author_name="Lena", text="Should the rate limit be 300?", conversation_id="c"),
    MessageIn(uid="told", author_name="Lena", text='Karl wrote "the office is in Porto".', conversation_id="c"),
]


@pytest.fixture
def items(librarian):
    """Stores items in a service that reads new messages for facts."""
    return ItemsRoom(librarian.lifecycle, 1_000_000, lambda: None, read_for_facts=True)


@pytest.fixture
def reader(librarian):
    """Reads them: `accept` is what the setting is."""

    def in_mode(mode="accept"):
        declared = Declared(frozenset(), frozenset())
        return SweepsRoom(librarian.lifecycle, None, lambda: None, declared, propose_facts=mode)

    return in_mode


@pytest.fixture
def known(librarian, namespace):
    """Return the stored facts, and those that wait for a human: (message, state of the review)."""

    async def read():
        facts = (await librarian.list_items(namespace, ItemQuery(kinds=["fact"]))).items
        reviews = await librarian.list_reviews(namespace, ReviewQuery(sorts=["fact"], states=["open", "unreviewed"]))
        said = {(fact.properties["subject"], fact.properties["object"]) for fact in facts}
        return said, {(one.item.uid, one.state) for one in reviews.reviews}

    return read


async def test_new_messages_are_read_once_and_taken_back_together(items, reader, known, librarian, namespace):
    """Sure facts are stored, the rest proposed, in one run a day; undone, they stay away until a message changes."""
    await items.keep_rows(namespace, SAID)
    assert await known() == (set(), set())
    await reader().propose_pending()
    found = ({("Ines", "Porto")}, {("moved", "unreviewed"), ("bought", "open")})
    assert await known() == found
    await items.put_item(namespace, "dog", MessageIn(author_name="Ines", text="My dog is called Rufo."))
    await items.keep_rows(namespace, SAID)
    await reader().propose_pending()
    assert (await known())[0] == {("Ines", "Porto"), ("Ines's dog", "Rufo")}
    (run,) = (await librarian.list_sweeps(namespace, SweepQuery())).sweeps
    assert (run.status, run.actor, run.config.ingested, run.facts) == ("applied", "python", True, 3)
    assert not (await librarian.sweep(namespace, SweepRequest(facts=True, dry_run=True))).changes
    await librarian.undo_sweep(namespace, run.sweep_id)
    await reader().propose_pending()
    assert await known() == (set(), set())
    await items.put_item(namespace, "dog", MessageIn(author_name="Ines", text="My dog is called Rex."))
    await reader().propose_pending()
    assert (await known())[0] == {("Ines's dog", "Rex")}
    assert len((await librarian.list_sweeps(namespace, SweepQuery())).sweeps) == 2


async def test_everything_may_wait_for_a_human(items, reader, known, namespace):
    """With `propose` nothing is stored, however sure."""
    await items.keep_rows(namespace, SAID)
    await reader("propose").propose_pending()
    assert await known() == (set(), {("moved", "open"), ("bought", "open")})


async def test_a_reader_that_is_killed_leaves_nothing_double(
    items, reader, known, executor, librarian, namespace, monkeypatch
):
    """Whether it ended before its messages were let go of, or another process has proposed the same meanwhile."""
    await items.keep_rows(namespace, SAID)

    async def killed(*_args):
        raise KeyboardInterrupt

    monkeypatch.setattr(writes, "have_read", killed)
    with pytest.raises(KeyboardInterrupt):
        await reader().propose_pending()
    monkeypatch.undo()
    before = await known()
    page = await graph.messages_to_read(executor, namespace, limit=100)
    assert {message.item.uid for message in page} == {message.uid for message in SAID}
    blind = [graph.ReadMessage(message.item, message.position, frozenset()) for message in page]
    work = reading.Reader(executor, Declared(frozenset(), frozenset()), "accept")
    async with reading.leased(executor, f"reading messages of {namespace}", "test") as lease:
        await work._read(namespace, blind, lease)
    await reader().propose_pending()
    assert await known() == before == ({("Ines", "Porto")}, {("moved", "unreviewed"), ("bought", "open")})
    assert await graph.messages_to_read(executor, namespace, limit=100) == []


async def test_nothing_is_read_unless_it_is_set(librarian, reader, known, namespace, ingest):
    """Messages of a service without the setting are left to sweeps."""
    await ingest({"kind": "message", "uid": "moved", "text": "We moved to Porto."}, embed=False)
    await reader().propose_pending()
    assert await known() == (set(), set())
