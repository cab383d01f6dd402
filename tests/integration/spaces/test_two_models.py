"""Two models of one dimension on one graph: their vectors never meet, and switching between them loses nothing."""

import asyncio
import os

import pytest

from graph.spaces import activate, count_pending, count_vectors, ensure_space, list_spaces
from graph.types import NewSpace
from librarian.app import open_librarian
from librarian.embeddings import embed
from librarian.embeddings.embed import fill_space

pytestmark = pytest.mark.slow

TEXTS = {
    "ferry": "The ferry to Lisbon leaves at nine.",
    "cheese": "Bring bread and cheese to the picnic.",
    "pool": "The connection pool was exhausted, so the deploy failed.",
}
PARAPHRASE = "when does the ship depart?"


async def active(librarian):
    return [space.space for space in await list_spaces(librarian.parts.executor) if space.active]


async def test_another_model_of_the_same_dimension_never_answers_for_the_first(original, mirrored, store, ask):
    """It gets a space of its own, inactive: its vector arm is skipped with the reason, keywords answer, and its
    worker leaves the first model's items alone. The first model goes on as before.
    """
    await store(original, **TEXTS)
    assert await original.embed_pending() == len(TEXTS)
    async with mirrored() as other:
        assert other.parts.space.dimension == original.parts.space.dimension
        assert other.parts.space.space != original.parts.space.space
        answer = await ask(other, "ferry to Lisbon")
        assert "not the active embedding space" in answer.arms["vector"]
        assert "librarian embeddings switch" in answer.arms["vector"]
        assert [hit.uid for hit in answer.results] == ["ferry"]
        assert {arm.arm for hit in answer.results for arm in hit.explanation.arms} == {"keyword"}
        await store(other, late="The tram is late.")
        assert await other.embed_pending() == 0
        assert await count_vectors(other.parts.executor, other.parts.space.space) == 0
    assert await original.embed_pending() == 1
    answer = await ask(original, PARAPHRASE)
    assert (answer.arms["vector"], answer.results[0].uid) == ("ok", "ferry")


async def test_a_switch_fills_the_new_space_and_the_way_back_encodes_nothing(
    original, original_settings, mirrored, store, ask
):
    """Both spaces keep their vectors; whoever opens the graph searches the active one only."""
    await store(original, **TEXTS)
    await original.embed_pending()
    async with mirrored() as other:
        assert await other.embeddings.switch() == len(TEXTS)
        assert await active(other) == [other.parts.space.space]
        assert [space.vectors for space in (await other.embeddings.status()).spaces] == [len(TEXTS)] * 2
    async with mirrored() as other:
        answer = await ask(other, PARAPHRASE)
        assert (answer.arms["vector"], answer.results[0].uid) == ("ok", "ferry")
    async with open_librarian(original_settings, purpose="space tests", linger_s=0) as left:
        assert "not the active embedding space" in (await ask(left, PARAPHRASE)).arms["vector"]
        assert await left.embeddings.switch() == 0
        assert await active(left) == [left.parts.space.space]
        assert await left.embed_pending() == 0


async def test_filling_a_space_does_not_take_items_from_the_active_one(original, mirrored, store):
    """An item that waits for its vector in the active space still does after another space has got one."""
    await store(original, **TEXTS)
    async with mirrored() as other:
        parts = other.parts
        assert await fill_space(parts.executor, parts.space, parts.encoder) == len(TEXTS)
        assert await count_pending(parts.executor) == len(TEXTS)
    assert await original.embed_pending() == len(TEXTS)


async def test_a_service_with_the_old_model_leaves_items_to_the_new_one(original, mirrored, store):
    """Who was open during a switch encodes nothing for a space that nobody searches any more."""
    async with mirrored() as other:
        await other.embeddings.switch()
    async with mirrored() as other:
        await store(original, **TEXTS)
        assert await original.embed_pending() == 0
        assert await other.embed_pending() == len(TEXTS)
        assert await count_pending(other.parts.executor) == 0
        assert await count_vectors(other.parts.executor, other.parts.space.space) == len(TEXTS)


async def test_after_a_switch_exactly_the_items_without_a_vector_are_pending(original, mirrored, store):
    """Whatever waited for the space before: what the new one knows waits no longer, what it lacks does."""
    await store(original, **TEXTS)
    async with mirrored() as other:
        parts = other.parts
        await fill_space(parts.executor, parts.space, parts.encoder)
        await activate(parts.executor, parts.space.space)
        assert await count_pending(parts.executor) == 0
        await activate(parts.executor, original.parts.space.space)
        assert await count_pending(parts.executor) == len(TEXTS)


async def test_two_programs_that_make_one_space_at_the_same_time_share_it(original, mirrored_settings, program):
    """Both commands succeed; the graph has one new space with one index, and the active one is as before."""
    before = await active(original)
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("LIBRARIAN_", "NEO4J_"))}
    environment = {
        **inherited,
        "LIBRARIAN_HOME": str(mirrored_settings.home),
        "LIBRARIAN_CACHE": str(mirrored_settings.cache),
        "LIBRARIAN_ENCODER": mirrored_settings.encoder.name,
    }
    processes = [
        await asyncio.create_subprocess_exec(program, "embeddings", "status", env=environment) for _ in range(2)
    ]
    assert [await process.wait() for process in processes] == [0, 0]
    assert len(await list_spaces(original.parts.executor)) == 2
    assert await active(original) == before


async def test_opening_a_recorded_space_writes_nothing(original):
    asked = "MATCH (lock:Lock {name: 'embedding_spaces'}) RETURN lock.asked_at"
    executor, own = original.parts.executor, original.parts.encoder.space
    before = (await executor.driver.execute_query(asked)).records
    record = await ensure_space(
        executor, NewSpace(own.id, own.model, own.dimension, own.text_form, own.normalised, own.revision)
    )
    assert record == next(stored for stored in await list_spaces(executor) if stored.space == own.id)
    assert before
    assert (await executor.driver.execute_query(asked)).records == before


async def test_of_many_first_spaces_at_once_one_becomes_active(original):
    """On a graph without a space, encoders that start side by side do not both become the one to search with."""
    executor = original.parts.executor
    spaces = [NewSpace(f"racer_{n}", f"racer {n}", 4, "text", normalised=True, revision="1") for n in range(8)]
    try:
        for _ in range(5):
            await executor.driver.execute_query("MATCH (s:EmbeddingSpace) DETACH DELETE s")
            records = await asyncio.gather(*(ensure_space(executor, space) for space in spaces))
            assert sum(record.active for record in records) == 1
            assert len(await active(original)) == 1
    finally:
        for space in spaces:
            await executor.run_schema("drop_space_index", space=space.space)
        own = original.parts.encoder.space
        await ensure_space(
            executor, NewSpace(own.id, own.model, own.dimension, own.text_form, own.normalised, own.revision)
        )


async def test_items_of_one_fetch_are_encoded_in_several_batches_each_once(original, store, monkeypatch):
    monkeypatch.setattr(embed, "ITEMS_AT_ONCE", 2)
    monkeypatch.setattr(embed, "_FETCHED_AT_ONCE", 5)
    await original.embed_pending()
    executor, space = original.parts.executor, original.parts.space.space
    before = await count_vectors(executor, space)
    await store(original, **{f"numbered{number}": f"The ferry number {number} leaves at noon." for number in range(9)})
    assert await original.embed_pending() == 9
    assert await count_vectors(executor, space) == before + 9
    assert await count_pending(executor) == 0
