import asyncio
import subprocess
import sys
from contextlib import AsyncExitStack

import pytest

from graph.local.errors import JavaNotFound, NetworkUnavailable
from librarian.base.settings.settings import Settings
from librarian.runtime.assembly import Assembly
from librarian.runtime.lifecycle import Lifecycle
from librarian.runtime.managed import head_start


@pytest.mark.parametrize("module", ["librarian.runtime.managed", "graph.local.keeper"])
def test_nothing_that_starts_the_server_waits_for_heavy_imports(module):
    heavy = {"neo4j", "numpy", "onnxruntime", "starlette", "httpx"}
    script = f"import sys, {module}; print(*sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


async def test_a_head_start_that_failed_is_reported_once_and_then_tried_anew(tmp_path):
    settings = Settings.from_env({"LIBRARIAN_HOME": str(tmp_path / "home"), "LIBRARIAN_JAVA": str(tmp_path / "none")})

    async def without_network():
        raise NetworkUnavailable("no network")

    async with AsyncExitStack() as stack:
        leasing = asyncio.create_task(without_network())
        assembly = Assembly(settings, Lifecycle(), stack, "test", 0, None, leasing)
        with pytest.raises(NetworkUnavailable):
            await assembly.build()
        with pytest.raises(JavaNotFound):
            await assembly.build()


async def test_another_server_gets_no_head_start(tmp_path):
    env = {"LIBRARIAN_HOME": str(tmp_path), "NEO4J_URI": "bolt://127.0.0.1:1", "NEO4J_PASSWORD": "secret"}
    assert await head_start(Settings.from_env(env), "test", 0, None) is None
