"""Neo4j Browser of the run's server, the service with the pack, and the shipped sample after a sweep."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from graph.executor import Executor
from graph.local.home import Home
from librarian.app import Librarian
from librarian.base.keys import KeyFile
from librarian.base.settings.settings import Settings
from librarian.cli.browser_link import BrowserAddress
from librarian.items.room import SAMPLE_NAMESPACE


@pytest.fixture(scope="session")
async def service(serve_app, librarian, tmp_path_factory) -> AsyncIterator[str]:
    """The address of the service."""
    async with serve_app(librarian, KeyFile(tmp_path_factory.mktemp("browser-keys") / "keys.json")) as url:
        yield url


@pytest.fixture(scope="session")
async def shelf(librarian: Librarian) -> str:
    """The namespace of the sample as `librarian serve --with-sample` leaves it: loaded, swept once, partly reviewed."""
    await librarian.load_sample()
    await librarian.embed_pending()
    await librarian.sweep_sample()
    await librarian.embed_pending()
    return SAMPLE_NAMESPACE


@pytest.fixture(scope="session")
async def neo4j_place(executor: Executor) -> BrowserAddress:
    """Where the server's Browser is; a server without one on this machine skips the test."""
    rows, _, _ = await executor.driver.execute_query(
        "SHOW SETTINGS 'server.bolt.listen_address', 'server.http.listen_address' YIELD name, value"
    )
    bolt, http = (int(row["value"].rpartition(":")[2]) for row in sorted(rows, key=lambda row: row["name"]))
    place = BrowserAddress(http, bolt, Path(), "")
    async with httpx.AsyncClient(trust_env=False, timeout=60) as client:
        try:
            (await client.get(place.link())).raise_for_status()
        except httpx.HTTPError:
            pytest.skip(f"no Neo4j Browser answers on {place.link()}")
    return place


@pytest.fixture(scope="session")
def password(settings: Settings, librarian: Librarian) -> str:
    """Of the database user neo4j."""
    return settings.neo4j.password or Home(settings.home).password()
