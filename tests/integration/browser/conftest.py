"""Neo4j Browser of the run's server, the service with the pack, and the shipped sample after a sweep."""

import uuid
from collections.abc import AsyncIterator
from importlib.resources import files
from pathlib import Path

import httpx
import msgspec
import pytest

from graph.executor import Executor
from graph.local.home import Home
from librarian.app import Librarian
from librarian.base.keys import KeyFile
from librarian.base.settings.settings import Settings
from librarian.cli.browser_link import BrowserAddress
from librarian.items.room import SAMPLE_FILES
from librarian.sweep.contracts import ReviewInput, ReviewQuery, SweepRequest

# What the sample has nothing of: lines of files that are gone, evidence that never came, and what people draw wrongly.
ODD = (
    {"kind": "memory", "uid": "odd-egg", "text": "There was an egg first.", "evidence": ["file:gone.py#L1-L2"]},
    {"kind": "memory", "uid": "odd-hen", "text": "There was a hen first.", "evidence": ["nowhere"]},
    {"kind": "edge", "source": "odd-egg", "type": "CAUSES", "target": "odd-hen"},
)
DRAWN_BY_HAND = """
MATCH (egg:Item {namespace: $namespace, uid: 'odd-egg'}), (hen:Item {namespace: $namespace, uid: 'odd-hen'})
CREATE (hen)-[:CAUSES]->(egg), (egg)-[:BLOCKS]->(hen)
"""


@pytest.fixture(scope="session")
async def service(serve_app, librarian, tmp_path_factory) -> AsyncIterator[str]:
    """The address of the service."""
    async with serve_app(librarian, KeyFile(tmp_path_factory.mktemp("browser-keys") / "keys.json")) as url:
        yield url


@pytest.fixture(scope="session")
async def shelf(librarian: Librarian) -> AsyncIterator[str]:
    """A namespace with the sample and ODD, swept once, with one proposal rejected and one memory edited: something for
    every query.
    """
    name = f"test-browser-{uuid.uuid4().hex[:12]}"
    assert (await librarian.ingest(_lines(), namespace=name)).failed == 0
    await librarian.embed_pending()
    await librarian.sweep(name, SweepRequest())
    await librarian.parts.executor.driver.execute_query(DRAWN_BY_HAND, {"namespace": name})
    (first, *_) = (await librarian.list_reviews(name, ReviewQuery(sorts=["edge"], states=["open"]))).reviews
    await librarian.review(name, first.review_id, ReviewInput(verdict="reject", reason="not in the report"))
    await librarian.patch_item(name, "mem-deploy-failed", {"importance": 10})
    yield name
    preview = await librarian.delete_namespace(name)
    await librarian.delete_namespace(name, preview.confirm_token)


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


async def _lines() -> AsyncIterator[tuple[int, bytes]]:
    shipped = (files("librarian.items") / "sample" / f"{name}.jsonl" for name in SAMPLE_FILES)
    rows = [line for file in shipped for line in file.read_bytes().splitlines()]
    for number, row in enumerate([*rows, *map(msgspec.json.encode, ODD)], start=1):
        yield number, row
