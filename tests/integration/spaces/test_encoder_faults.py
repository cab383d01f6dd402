"""An embeddings server that is down, goes away, or refuses a text."""

import pytest

from graph.spaces import count_pending
from librarian.app import open_librarian
from retrieval.encoders.errors import EncoderUnavailable

pytestmark = pytest.mark.slow


@pytest.fixture
async def switched(mirrored):
    """The graph with the embeddings server's space as the active one."""
    async with mirrored() as other:
        await other.embeddings.switch()


async def test_a_service_waits_for_its_embeddings_server(
    switched, mirror, mirrored, mirrored_settings, store, ask, eventually
):
    """While it is down a command fails with a retryable error, and a service is "unreachable" with the encoder as the
    reason; it becomes ready, by both arms, when the server comes.
    """
    await mirror.stop()
    with pytest.raises(EncoderUnavailable):
        async with mirrored():
            pass
    async with open_librarian(mirrored_settings, purpose="space tests", linger_s=0, wait=False) as service:

        async def says_why():
            said = await service.readiness()
            assert not said.ready
            return said.phase == "unreachable" and "embeddings server" in said.checks["graph"]

        await eventually(says_why)
        await mirror.start()
        await service.ready()
        assert (await service.readiness()).ready
        await store(service, ferry="The ferry to Lisbon leaves at nine.", cheese="Bring bread and cheese.")

        async def encoded():
            return await count_pending(service.parts.executor) == 0

        await eventually(encoded)
        answer = await ask(service, "when does the ship depart?")
        assert (answer.arms["vector"], answer.results[0].uid) == ("ok", "ferry")


async def test_an_embeddings_server_that_goes_away_costs_the_vector_arm_only(switched, mirror, mirrored, store, ask):
    """Keywords answer and the answer says what failed; new items are stored, wait, and get their vectors later."""
    async with mirrored() as service:
        await mirror.stop()
        assert (await store(service, ferry="The ferry to Lisbon leaves at nine.")).added == 1
        answer = await ask(service, "ferry")
        assert answer.arms["vector"].startswith("failed: the embeddings server does not answer")
        assert [hit.uid for hit in answer.results] == ["ferry"]
        with pytest.raises(EncoderUnavailable):
            await service.embed_pending()
        await mirror.start()
        assert await service.embed_pending() == 1
        assert (await ask(service, "when does the ship depart?")).results[0].uid == "ferry"


async def test_a_text_that_the_encoder_refuses_blocks_no_other(switched, mirror, mirrored, store, ask):
    """Its item is set aside, findable by keyword; all others get vectors. A new text of it is tried again."""
    mirror.refused = {"unspeakable"}
    async with mirrored() as service:
        texts = {f"k{n}": f"note {n} on bread" for n in range(9)}
        await store(service, **texts, bad="an unspeakable note on cheese")
        assert await service.embed_pending() == len(texts)
        assert await count_pending(service.parts.executor) == 0
        found, _, _ = await service.parts.executor.driver.execute_query(
            "MATCH (m:EmbeddingRefused) RETURN m.uid AS uid"
        )
        assert [record["uid"] for record in found] == ["bad"]
        assert "bad" in [hit.uid for hit in (await ask(service, "unspeakable")).results]
        assert (await store(service, bad="a note on cheese")).updated == 1
        assert await count_pending(service.parts.executor) == 1
        assert await service.embed_pending() == 1
        found, _, _ = await service.parts.executor.driver.execute_query(
            "MATCH (m:EmbeddingRefused) RETURN count(m) AS refused"
        )
        assert found[0]["refused"] == 0


async def test_a_service_that_closes_while_it_encodes_gives_its_lease_back(
    original, switched, mirror, mirrored, store, eventually, caplog
):
    """Its connection is closed after its work has ended: the next one encodes at once, and nothing is warned of."""

    async def held():
        (found,), _, _ = await original.parts.executor.driver.execute_query(
            "MATCH (l:Lock) WHERE l.name STARTS WITH 'encoding' AND l.expires_at > datetime() RETURN count(*) AS held"
        )
        return found["held"] == 1

    async with mirrored(wait=False) as service:
        await service.ready()
        mirror.held = {"ferry"}
        await store(service, ferry="The ferry to Lisbon leaves at nine.")
        await eventually(held)
    assert not await held()
    assert [record.message for record in caplog.records if record.name == "librarian.graph"] == []
