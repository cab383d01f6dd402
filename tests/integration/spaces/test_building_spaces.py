"""Another encoder without downtime: plan, build beside, compare, switch in one step, roll back, drop."""

import pytest

from graph.spaces import count_pending, count_vectors, list_spaces
from librarian.base.errors import Conflict, NotFound
from librarian.evaluation.lab import Lab

pytestmark = pytest.mark.slow

TEXTS = {
    "ferry": "The ferry to Lisbon leaves at nine.",
    "cheese": "Bring bread and cheese to the picnic.",
    "pool": "The connection pool was exhausted, so the deploy failed.",
}
PARAPHRASE = "when does the ship depart?"


async def active(librarian):
    (space,) = [space.space for space in await list_spaces(librarian.parts.executor) if space.active]
    return space


async def test_a_plan_changes_nothing_and_counts_what_there_is_to_do(original, mirrored, store):
    """Items, characters and estimates of a space that does not hold anything yet, and of one that does."""
    await store(original, **TEXTS)
    async with mirrored() as other:
        plan = await other.embeddings.plan()
        assert (plan.items, plan.sampled, plan.vectors, plan.new_vectors) == (3, 3, 0, 3)
        assert plan.characters == sum(map(len, TEXTS.values()))
        assert plan.seconds >= 0
        assert plan.bytes > 3 * 4 * plan.dimension
        assert not plan.active
        assert await other.embeddings.build() == 3
        done = await other.embeddings.plan()
        assert (done.items, done.vectors, done.sampled, done.bytes) == (0, 3, 0, 0)
    assert await active(original) == original.parts.space.space


async def test_a_build_goes_on_where_it_stopped_and_searches_go_on_meanwhile(original, mirrored, mirror, store, ask):
    """Encoded items are not encoded again, and the active space answers as before."""
    await store(original, ferry=TEXTS["ferry"])
    await original.embed_pending()
    async with mirrored() as other:
        assert await other.embeddings.build() == 1
        await store(original, cheese=TEXTS["cheese"], pool=TEXTS["pool"])
        assert (await ask(original, PARAPHRASE)).arms["vector"] == "ok"
        assert await other.embeddings.build() == 2
        assert await other.embeddings.build() == 0


async def test_a_switch_by_name_is_refused_while_items_lack_vectors(original, mirrored, store):
    """Nothing changes then; forced, the rest waits for the worker. A space that there is not is not found."""
    await store(original, **TEXTS)
    await original.embed_pending()
    async with mirrored() as other:
        new, old = other.parts.space.space, original.parts.space.space
        with pytest.raises(Conflict, match="3 items"):
            await original.embeddings.switch_to(new)
        assert await active(original) == old
        assert await count_pending(original.parts.executor) == 0
        await original.embeddings.switch_to(new, force=True)
        assert await active(original) == new
        assert await count_pending(original.parts.executor) == 3
    with pytest.raises(NotFound):
        await original.embeddings.switch_to("nowhere")


async def test_a_switch_encodes_what_came_in_late_but_not_everything(original, mirrored, store, monkeypatch):
    """Some items are caught up; a space that was never built is refused, and the remedy says what to do."""
    monkeypatch.setattr("librarian.embeddings.room.CATCH_UP", 2)
    many = {f"m{n}": f"note {n}" for n in range(3)}
    await store(original, **many)
    async with mirrored() as other:
        with pytest.raises(Conflict) as refused:
            await other.embeddings.switch()
        assert "embeddings build" in refused.value.remedy
        assert await count_vectors(other.parts.executor, other.parts.space.space) == 0
        assert await other.embeddings.build() == len(many)
        await store(original, late="The tram is late.")
        assert await other.embeddings.switch() == 1
        assert await active(other) == other.parts.space.space


async def test_a_rollback_is_instant_and_loses_nothing(original, mirrored, store, ask):
    """The space before has its vectors still; what came in since waits for its encoder."""
    await store(original, **TEXTS)
    await original.embed_pending()
    async with mirrored() as other:
        await other.embeddings.switch()
    async with mirrored() as other:
        await store(other, late="The tram is late.")
        await other.embed_pending()
        spaces = (await other.embeddings.rollback()).spaces
        assert [space.space for space in spaces if space.active] == [original.parts.space.space]
        assert [space.pending_items for space in spaces if space.active] == [1]
    assert await original.embed_pending() == 1
    assert (await ask(original, PARAPHRASE)).results[0].uid == "ferry"
    await original.embeddings.rollback()
    assert await active(original) != original.parts.space.space


async def test_without_a_space_before_there_is_nothing_to_roll_back_to(original):
    """The first space of a graph stays."""
    await original.parts.executor.driver.execute_query("MATCH (s:EmbeddingSpace) REMOVE s.left_at")
    with pytest.raises(Conflict, match="no other space"):
        await original.embeddings.rollback()


async def test_a_dropped_space_is_gone_with_its_vectors_and_the_active_one_cannot_be(original, mirrored, store):
    """Its index goes too; the other space's vectors stay."""
    await store(original, **TEXTS)
    await original.embed_pending()
    async with mirrored() as other:
        await other.embeddings.build()
        dropped = other.parts.space.space
    with pytest.raises(Conflict, match="active"):
        await original.embeddings.drop(original.parts.space.space)
    assert await original.embeddings.drop(dropped) == 3
    assert [space.space for space in (await original.embeddings.status()).spaces] == [original.parts.space.space]
    assert await count_vectors(original.parts.executor, dropped) == 0
    assert await count_vectors(original.parts.executor, original.parts.space.space) == 3
    found, _, _ = await original.parts.executor.driver.execute_query(
        "SHOW INDEXES YIELD name WHERE name = $name RETURN name", {"name": f"embedding_{dropped}"}
    )
    assert found == []
    with pytest.raises(NotFound):
        await original.embeddings.drop(dropped)


async def test_what_one_encoder_refuses_is_offered_to_the_next(original, mirrored, mirror, store):
    """A refusal counts for its space and for that version of the item."""
    mirror.refused = {"unspeakable"}
    await store(original, **TEXTS, bad="an unspeakable note")
    assert await original.embed_pending() == 4
    async with mirrored() as other:
        assert await other.embeddings.switch() == 3
        assert await count_pending(other.parts.executor) == 0
        found, _, _ = await other.parts.executor.driver.execute_query("MATCH (m:EmbeddingRefused) RETURN m.uid AS uid")
        assert [record["uid"] for record in found] == ["bad"]
        await other.embeddings.rollback()
        found, _, _ = await other.parts.executor.driver.execute_query("MATCH (m:EmbeddingRefused) RETURN m.uid AS uid")
        assert found == []
        assert await count_pending(other.parts.executor) == 0
        mirror.refused = set()
        await store(original, bad="a note that can be said")
        assert await other.embeddings.build() == 1


async def test_two_spaces_are_compared_without_a_switch(original, mirrored, store, namespace):
    """Two models that are equally good agree on the hits; while one lacks vectors the answer says so."""
    await store(original, **TEXTS)
    await original.embed_pending()
    async with mirrored() as other:
        asked = [(namespace, PARAPHRASE), (namespace, "what to eat outdoors")]
        early = await Lab(original).compare_spaces(other, queries=asked)
        assert early.notes == [f"3 items have no vector in {other.parts.space.space}; build it first"]
        await other.embeddings.build()
        found = await Lab(original).compare_spaces(other, queries=asked)
        assert found.notes == []
        assert (found.queries.queries, found.queries.overlap, found.queries.first) == (2, 1, 1)
        assert found.queries.empty == {original.parts.space.space: 0, other.parts.space.space: 0}
        assert await active(original) == original.parts.space.space
