"""A switch of the embedding space by another program, noticed by a service that runs."""

import pytest

from librarian.app import open_librarian

pytestmark = pytest.mark.slow


async def test_a_running_service_notices_which_space_is_active(
    original, original_settings, mirrored, store, ask, eventually
):
    """Without a restart it says that its encoder's space is not active any more and leaves the vector arm out; when
    somebody switches back it searches by meaning again.
    """
    async with open_librarian(original_settings, purpose="space tests", linger_s=0, wait=False) as service:
        await service.ready()
        await store(service, ferry="The ferry to Lisbon leaves at nine.")

        async def says(word):
            return word in (await service.readiness()).checks["encoder"]

        assert await says("ok")
        async with mirrored() as other:
            await other.embeddings.switch()
        await eventually(lambda: says("not active"))
        assert "not the active embedding space" in (await ask(service, "ferry")).arms["vector"]
        await original.embeddings.switch()
        await eventually(lambda: says("ok"))
        answer = await ask(service, "when does the ship depart?")
        assert (answer.arms["vector"], answer.results[0].uid) == ("ok", "ferry")
