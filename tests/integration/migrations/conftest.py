"""A server of its own for tests that alter the schema; nothing else may use it."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from platformdirs import user_cache_path

from graph.config import GraphConfig
from graph.driver import open_driver
from graph.executor import Executor
from graph.local.server import ManagedServer, ServerOptions
from migrations.lock import LockTimes
from migrations.plan import Migration
from migrations.runner import Migrator

QUICK = LockTimes(poll_s=0.05, wait_s=60)
MakeMigrator = Callable[..., Migrator]


@pytest.fixture(scope="session")
async def disposable_graph(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Executor]:
    """A managed server in a temporary home, whatever NEO4J_URI says."""
    home: Path = tmp_path_factory.mktemp("migrations") / "home"
    server = ManagedServer(home, user_cache_path("librarian"), ServerOptions(heap_mb=512, pagecache_mb=128))
    async with await server.lease("migration tests"):
        endpoint = await server.wait_ready()
        config = GraphConfig(uri=endpoint.uri, username=endpoint.username, password=endpoint.password)
        async with open_driver(config) as driver:
            yield Executor(driver)
    await server.stop()


@pytest.fixture
async def blank(disposable_graph: Executor) -> Executor:
    """The disposable graph without a node, an index or a constraint."""
    run = disposable_graph.run_migration
    for row in await run("SHOW CONSTRAINTS YIELD name"):
        await run(f"DROP CONSTRAINT `{row['name']}`")
    for row in await run("SHOW INDEXES YIELD name, type WHERE type <> 'LOOKUP' RETURN name"):
        await run(f"DROP INDEX `{row['name']}`")
    await run("MATCH (n) DETACH DELETE n")
    return disposable_graph


@pytest.fixture
def migrator(blank: Executor) -> MakeMigrator:
    """Makes migrators of the blank graph; without files they have the package's own."""

    def make(*migrations: Migration, owner: str = "test", times: LockTimes = QUICK) -> Migrator:
        return Migrator(blank, owner=owner, app_version="0.0.0", migrations=migrations or None, times=times)

    return make
