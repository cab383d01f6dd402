"""Whether messages are read for facts as they come in is a setting."""

import asyncio

import pytest

from librarian.app import Librarian
from librarian.base.errors import SettingsError
from librarian.base.settings.settings import Settings


@pytest.mark.parametrize(("value", "reads"), [(None, False), ("off", False), ("propose", True), ("accept", True)])
async def test_a_worker_reads_only_where_it_is_set(value, reads, tmp_path):
    """Without the setting there is no worker at all; with it, one that waits for the graph."""
    env = {"LIBRARIAN_HOME": str(tmp_path)} | ({} if value is None else {"LIBRARIAN_PROPOSE_FACTS": value})
    librarian = Librarian(Settings.from_env(env))
    working = asyncio.create_task(librarian.sweeps.work())
    await asyncio.sleep(0.01)
    assert working.done() is not reads
    working.cancel()


def test_another_value_is_refused():
    """With the values that there are."""
    with pytest.raises(SettingsError, match="LIBRARIAN_PROPOSE_FACTS"):
        Settings.from_env({"LIBRARIAN_PROPOSE_FACTS": "yes"})
