"""The web page of the real service over the shipped sample, in a real Chromium."""

import contextlib
import uuid
from collections.abc import AsyncIterator
from importlib.resources import files

import httpx
import pytest
from playwright.async_api import Page

from librarian.base.keys import KeyFile
from librarian.base.settings.values import Rate
from librarian.http.web.session import Sessions
from librarian.items.room import SAMPLE_FILES
from tests.integration.browser_kit import chromium, new_page

SECRET = b"a secret of thirty-two bytes or more"
HTML = {"Accept": "text/html"}


@pytest.fixture(scope="session")
def keys(tmp_path_factory):
    return KeyFile(tmp_path_factory.mktemp("web-keys") / "keys.json")


@pytest.fixture(scope="session")
async def address(serve_app, librarian, keys):
    """Of a service with the web page and without a rate limit."""
    async with serve_app(
        librarian, keys, Sessions(SECRET), rate_limit=Rate(0, 1.0), trusted_proxies=("127.0.0.1",)
    ) as url:
        yield url


@pytest.fixture(scope="session")
async def shelf(librarian):
    """A namespace with the shipped sample, which tests of this folder may change."""
    name = f"test-web-{uuid.uuid4().hex[:12]}"

    async def lines() -> AsyncIterator[tuple[int, bytes]]:
        number = 0
        for file in SAMPLE_FILES:
            for line in (files("librarian.items") / "sample" / f"{file}.jsonl").read_bytes().splitlines():
                number += 1
                yield number, line

    await librarian.ingest(lines(), namespace=name)
    await librarian.embed_pending()
    return name


@pytest.fixture
def key(keys, shelf):
    """Of somebody who may do everything but administrate, in the sample's namespace."""
    return keys.create("reader", namespaces=[shelf], scopes=["read", "write", "sweep"])[1]


@pytest.fixture(scope="session")
async def browser():
    async with chromium() as running:
        yield running


@pytest.fixture
def opened(browser, address):
    """Opens pages of a visitor who has logged in with a key; no page may leave a complaint in the console."""

    @contextlib.asynccontextmanager
    async def open_page(key: str | None, path: str = "/", **options: object) -> AsyncIterator[Page]:
        faults: list[str] = []
        async with new_page(browser, faults, base_url=address, **options) as page:
            await page.goto(path)
            if key is not None:
                await page.locator("#key").fill(key)
                await page.locator("main button").click()
                await page.wait_for_url(lambda url: "/login" not in url)
            yield page
        assert faults == []

    return open_page


@pytest.fixture
async def client(address):
    """Speaks HTTP as a browser does, without following redirects."""
    async with httpx.AsyncClient(base_url=address, headers=HTML, trust_env=False, timeout=60) as speaking:
        yield speaking


@pytest.fixture
def logged_in(client):
    """Logs the client in."""

    async def log_in(key: str) -> httpx.Response:
        client.cookies.clear()
        form = (await client.get("/login")).text
        token = form.split('name="token" value="')[1].split('"')[0]
        return await client.post("/login", data={"token": token, "key": key, "next": "/"})

    return log_in


@pytest.fixture
def propose(executor, shelf):
    """Proposes edges between items of the sample, as a sweep does; gives the ids."""

    async def run(*ends: tuple[str, str]) -> list[str]:
        rows = [{"source": source, "target": target, "edge_id": uuid.uuid4().hex} for source, target in ends]
        await executor.driver.execute_query(
            "UNWIND $rows AS row "
            "MATCH (a:Item {namespace: $ns, uid: row.source}), (b:Item {namespace: $ns, uid: row.target}) "
            "CREATE (a)-[:PROPOSED {edge_id: row.edge_id, type: 'CAUSES', state: 'proposed', method: 'rule', "
            "confidence: 0.6, reason: 'a cue', run_id: 'sweep-20260101-001'}]->(b)",
            {"ns": shelf, "rows": rows},
        )
        return [row["edge_id"] for row in rows]

    return run
