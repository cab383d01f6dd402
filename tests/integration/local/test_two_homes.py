"""Two homes on one machine."""

import asyncio
from pathlib import Path

import platformdirs
import pytest

from graph.local.server import ManagedServer, ServerOptions

OPTIONS = ServerOptions(heap_mb=512, pagecache_mb=256)


@pytest.mark.slow
async def test_two_homes_started_at_once_get_ports_of_their_own(tmp_path: Path):
    """Both servers may find the same ports free; the one that comes second to bind them takes others, and neither
    tries its password on the other.
    """
    cache = platformdirs.user_cache_path("librarian")
    servers = [ManagedServer(tmp_path / name / "home", cache, OPTIONS) for name in ("one", "two")]
    leases = await asyncio.gather(*(server.lease("test") for server in servers))
    try:
        endpoints = await asyncio.gather(*(server.wait_ready() for server in servers))
    finally:
        for lease in leases:
            await lease.release()
        await asyncio.gather(*(server.stop() for server in servers))
    assert len({endpoint.uri for endpoint in endpoints}) == 2
