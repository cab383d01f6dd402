"""Writers of one item at the same time: nothing is lost, nothing is doubled."""

import asyncio
from typing import Any

import pytest

from graph.errors import ItemBusy
from librarian.base.errors import Conflict, NotFound, PreconditionFailed
from librarian.items.contracts import Correction, CorrectOutput, FactIn, MemoryIn

TASKS = 12
# That something was forgotten stays.
LEFT = "MATCH (n:!Tombstone&!TombstoneMark&!TombstoneSalts&!ChangeLog&!ChangeSet {namespace: $ns}) RETURN labels(n)"


async def attempted(*changes: Any) -> list[Any]:
    """All changes at once; a refusal stands in the place of its result."""
    return await asyncio.gather(*changes, return_exceptions=True)


async def test_patches_of_different_fields_all_survive(librarian, namespace):
    """Each of many patches is there in the end, and each has made one version and one revision."""
    await librarian.put_item(namespace, "f", FactIn(text="x"))
    await asyncio.gather(
        *(librarian.patch_item(namespace, "f", {"attributes": {f"a{n}": n}}) for n in range(TASKS)),
        librarian.patch_item(namespace, "f", {"tags": ["t"]}),
    )
    item = await librarian.get_item(namespace, "f")
    assert item.properties["attributes"] == {f"a{n}": n for n in range(TASKS)}
    assert (item.properties["tags"], item.version) == (["t"], TASKS + 2)
    versions = [r.version for r in (await librarian.revisions(namespace, "f")).revisions]
    assert versions == list(range(TASKS + 1, 0, -1))


async def test_one_of_many_with_the_same_version_wins(librarian, namespace):
    """if_version is compared under the lock: of twelve with version 1 one succeeds."""
    await librarian.put_item(namespace, "k", MemoryIn(text="one"))
    done = await attempted(
        *(librarian.patch_item(namespace, "k", {"text": f"by {n}"}, if_version=1) for n in range(TASKS))
    )
    refused = [result for result in done if isinstance(result, PreconditionFailed)]
    (winner,) = [result for result in done if not isinstance(result, Exception)]
    assert len(refused) == TASKS - 1
    assert (await librarian.get_item(namespace, "k")).text == winner.text


async def test_puts_of_a_new_item_follow_one_another(librarian, namespace):
    """One adds it, each of the others replaces what came before it and keeps that; only one may find it absent."""
    done = await asyncio.gather(*(librarian.put_item(namespace, "k", MemoryIn(text=f"by {n}")) for n in range(TASKS)))
    assert sorted(put.outcome for put in done) == ["added"] + ["updated"] * (TASKS - 1)
    assert sorted(put.item.version for put in done) == list(range(1, TASKS + 1))
    history = (await librarian.revisions(namespace, "k")).revisions
    last = await librarian.get_item(namespace, "k")
    assert {last.text, *(r.text for r in history)} == {f"by {n}" for n in range(TASKS)}
    first = await attempted(
        *(librarian.put_item(namespace, "n", MemoryIn(text=f"by {n}"), if_version=0) for n in range(TASKS))
    )
    assert sum(isinstance(result, PreconditionFailed) for result in first) == TASKS - 1


async def test_a_delete_beside_patches_leaves_the_item_whole_or_gone(librarian, executor, ingest, namespace):
    """Whoever comes after the deletion is told that there is nothing; no half of an item stays behind."""
    for _ in range(5):
        await ingest({"kind": "message", "uid": "m", "conversation_id": "c", "text": "hi"}, even_if_forgotten=True)
        done = await attempted(
            *(librarian.patch_item(namespace, "m", {"author_id": f"a{n}"}) for n in range(4)),
            librarian.delete_item(namespace, "m"),
            *(librarian.patch_item(namespace, "m", {"text": f"by {n}"}) for n in range(4)),
        )
        assert [result for result in done if isinstance(result, Exception) and not isinstance(result, NotFound)] == []
        left, _, _ = await executor.driver.execute_query(LEFT, {"ns": namespace})
        assert [record.values() for record in left] == []


async def test_deleting_beside_ingest_into_one_conversation_fails_nobody(librarian, executor, ingest, namespace):
    """A conversation and a person that empty and fill again at once are there exactly while something is in them."""

    def rows(task: int) -> list[dict[str, Any]]:
        return [
            {"kind": "message", "uid": f"m{task}", "conversation_id": "c", "text": f"turn {task}", "position": task},
            {"kind": "fact", "uid": f"f{task}", "text": f"fact {task}", "person_id": "ada", "evidence": [f"m{task}"]},
        ]

    async def come_and_go(task: int) -> None:
        for _ in range(6):
            assert (await ingest(*rows(task), embed=False, even_if_forgotten=True)).failed == 0
            await librarian.delete_item(namespace, f"m{task}")
            await librarian.delete_item(namespace, f"f{task}")

    await asyncio.gather(*(come_and_go(task) for task in range(4)))
    left, _, _ = await executor.driver.execute_query(LEFT, {"ns": namespace})
    assert [record.values() for record in left] == []


async def test_the_same_correction_at_once_gives_one_chain(librarian, namespace):
    """Equal corrections share one new fact; of different ones a single one wins."""
    await librarian.put_item(namespace, "f", FactIn(subject="Ada", predicate="lives in", object="Bonn"))
    same = await asyncio.gather(*(librarian.correct(namespace, "f", Correction(object="Kyoto")) for _ in range(TASKS)))
    (uid,) = {done.item.uid for done in same}
    assert {done.superseded for done in same} == {"f"}
    mixed = await attempted(*(librarian.correct(namespace, uid, Correction(object=f"city {n}")) for n in range(TASKS)))
    assert sum(isinstance(done, CorrectOutput) for done in mixed) == 1
    assert sum(isinstance(done, Conflict) for done in mixed) == TASKS - 1


@pytest.fixture
async def held(librarian, executor, namespace):
    """An item that another transaction holds for as long as the test runs."""
    await librarian.put_item(namespace, "k", MemoryIn(text="one"))
    async with executor.driver.session() as session, await session.begin_transaction() as holding:
        await holding.run("MATCH (m:Item {namespace: $ns, uid: 'k'}) REMOVE m:Locked", {"ns": namespace})
        yield "k"
        await holding.rollback()


async def test_nobody_waits_for_ever_for_an_item(librarian, executor, ingest, namespace, held, monkeypatch):
    """Whoever wants to change it is told to come again, and nothing is changed; what was asked of another version is
    refused without waiting at all.
    """
    monkeypatch.setattr("graph.patience.LOCK_PATIENCE_S", 0.5)
    row = {"kind": "memory", "uid": held, "text": "three"}
    for change in (
        librarian.patch_item(namespace, held, {"text": "two"}),
        librarian.put_item(namespace, held, MemoryIn(text="two"), if_version=1),
        librarian.delete_item(namespace, held),
        ingest(row, embed=False),
    ):
        with pytest.raises(ItemBusy):
            await change
    for change in (
        librarian.patch_item(namespace, held, {"text": "two"}, if_version=7),
        librarian.put_item(namespace, held, MemoryIn(text="two"), if_version=0),
        librarian.delete_item(namespace, held, if_version=7),
    ):
        with pytest.raises(PreconditionFailed):
            await change
    assert (await librarian.get_item(namespace, held)).version == 1
    assert await executor.fetch_one("ping") == {"alive": 1}


async def test_a_lock_that_is_given_back_in_time_is_waited_for(librarian, executor, namespace):
    """Two writers in a row are no fault of the second."""
    await librarian.put_item(namespace, "k", MemoryIn(text="one"))
    async with executor.driver.session() as session, await session.begin_transaction() as holding:
        await holding.run("MATCH (m:Item {namespace: $ns, uid: 'k'}) REMOVE m:Locked", {"ns": namespace})
        patching = asyncio.create_task(librarian.patch_item(namespace, "k", {"text": "two"}))
        await asyncio.sleep(0.5)
        assert not patching.done()
        await holding.rollback()
    assert (await patching).version == 2
