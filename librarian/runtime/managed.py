"""The managed server of one Librarian; imports little, so that the server can start before the rest is imported."""

import asyncio
from dataclasses import dataclass

from graph.local.artifacts import Progress
from graph.local.server import Lease, ManagedServer, ServerOptions
from librarian.base.settings.settings import Settings

_HEAD_START_S = 2.0
"""How long the imports wait for the server's process; it takes longer only if files have to be downloaded."""


@dataclass(frozen=True, slots=True)
class Leased:
    """A managed server, which starts or runs, and the lease that keeps it up."""

    server: ManagedServer
    lease: Lease


def managed_server(settings: Settings) -> ManagedServer:
    """Return the managed server of `settings`; nothing runs yet."""
    options = ServerOptions(
        heap_mb=settings.server.heap_mb,
        pagecache_mb=settings.server.pagecache_mb,
        java=settings.server.java,
        maven_url=settings.server.maven_url,
    )
    return ManagedServer(settings.home, settings.cache, options)


async def lease_server(settings: Settings, purpose: str, linger_s: float, progress: Progress | None) -> Leased:
    """Lease the managed server of `settings`, starting it if it is down; does not wait until it is ready.

    Raises LocalServerError.
    """
    server = managed_server(settings)
    await server.prepare(progress)
    return Leased(server, await server.lease(purpose, linger_s=linger_s))


async def head_start(
    settings: Settings, purpose: str, linger_s: float, progress: Progress | None
) -> asyncio.Task[Leased] | None:
    """Start the managed server and return the task that leases it, for `open_librarian`; None if another is configured.

    Whoever imports the rest of Librarian after this does so while the server starts.
    """
    if settings.neo4j.uri:
        return None
    leasing = asyncio.create_task(lease_server(settings, purpose, linger_s, progress))
    await asyncio.wait([leasing], timeout=_HEAD_START_S)
    return leasing
