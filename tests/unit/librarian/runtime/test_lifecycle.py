"""The answers of a Librarian before its graph is there, and after it went away."""

import asyncio
from typing import Any, cast

import pytest

from librarian.base.errors import NotReady
from librarian.runtime.lifecycle import Lifecycle, Parts

PARTS = cast("Parts", object())


@pytest.fixture
def lifecycle():
    return Lifecycle()


async def refusal(lifecycle: Lifecycle) -> NotReady:
    with pytest.raises(NotReady) as caught:
        await lifecycle.ready(patient=False)
    return caught.value


async def test_who_is_patient_waits_through_everything(lifecycle):
    waiting = asyncio.create_task(lifecycle.ready())
    for phase in ("starting", "failed", "unreachable", "migrating"):
        lifecycle.unavailable(phase, "because")
        await asyncio.sleep(0)
        assert not waiting.done()
    lifecycle.connected(PARTS)
    await waiting


async def test_who_is_not_waits_only_for_what_mends_itself(lifecycle):
    waiting = asyncio.create_task(lifecycle.ready(patient=False))
    for phase in ("recovering", "migrating", "starting"):
        lifecycle.unavailable(phase, "because")
        await asyncio.sleep(0)
        assert not waiting.done()
    lifecycle.unavailable(
        "failed", "the password in its file is wrong", client_reason="wrong password", retry_after_s=10
    )
    with pytest.raises(NotReady):
        await waiting
    refused = await refusal(lifecycle)
    assert (str(refused), refused.phase, refused.retry_after_s) == ("wrong password", "failed", 10)


async def test_what_was_connected_can_be_lost_and_come_back(lifecycle):
    lifecycle.connected(PARTS)
    assert lifecycle.parts is PARTS
    lifecycle.unavailable("unreachable", "stopped")
    with pytest.raises(NotReady, match="stopped"):
        _ = lifecycle.parts
    said = await lifecycle.readiness()
    assert (said.ready, said.phase, said.checks) == (False, "unreachable", {"graph": "stopped"})
    lifecycle.connected(PARTS)
    await lifecycle.ready(patient=False)


async def test_refusals_are_new_each_time(lifecycle):
    """One exception raised again and again would grow by a traceback each time."""
    lifecycle.unavailable("failed", "because")
    assert await refusal(lifecycle) is not await refusal(lifecycle)


async def test_a_defect_reaches_everybody(lifecycle):
    waiting = asyncio.create_task(lifecycle.ready())
    await asyncio.sleep(0)
    lifecycle.failed(RuntimeError("x"))
    for ask in (lambda: waiting, lambda: lifecycle.ready(patient=False)):
        with pytest.raises(RuntimeError):
            await cast("Any", ask())
