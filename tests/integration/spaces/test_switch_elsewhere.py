"""A switch of the embedding space by another program, noticed by a service that runs."""

import asyncio
import time

import pytest

from librarian.app import open_librarian

pytestmark = pytest.mark.slow

PATIENCE_S = 120


async def until(condition):
    """Wait for what must happen. Only its absence fails a test, never its pace."""
    deadline = time.monotonic() + PATIENCE_S
    while not await condition():
        assert time.monotonic() < deadline, "it never happened"
        await asyncio.sleep(0.05)


async def test_a_running_service_notices_which_space_is_active(original, original_settings, mirrored, store, ask):
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
        await until(lambda: says("not active"))
        assert "not the active embedding space" in (await ask(service, "ferry")).arms["vector"]
        await original.embeddings.switch()
        await until(lambda: says("ok"))
        answer = await ask(service, "when does the ship depart?")
        assert (answer.arms["vector"], answer.results[0].uid) == ("ok", "ferry")
