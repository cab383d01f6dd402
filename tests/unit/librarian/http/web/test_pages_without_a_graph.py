"""The web page while its graph is not there: people can log in, and are told what is the matter."""

import asyncio
import contextlib
from dataclasses import replace

import httpx
import pytest

from librarian.app import Librarian
from librarian.base.keys import KeyFile
from librarian.base.settings.settings import Settings
from librarian.http.app import build_app
from librarian.http.server import Server, listen
from librarian.http.web.session import Sessions


@pytest.fixture
async def client(tmp_path):
    """A browser that has logged in to a service whose graph never comes."""
    settings = Settings.from_env({"LIBRARIAN_HOME": str(tmp_path / "home"), "LIBRARIAN_MAX_BODY_MB": "1"})
    keys = KeyFile(settings.keys_file)
    _, key = keys.create("reader", namespaces=["a"], scopes=["read", "sweep"])

    @contextlib.asynccontextmanager
    async def connect():
        yield Librarian(settings)

    http = replace(settings.http, port=0)
    with listen(http) as listening:
        server = Server(build_app(http, keys, connect, Sessions(b"s" * 32)))
        running = asyncio.create_task(server.serve(sockets=[listening]))
        address = f"http://127.0.0.1:{listening.getsockname()[1]}"
        async with httpx.AsyncClient(
            base_url=address, headers={"Accept": "text/html"}, trust_env=False, timeout=60
        ) as client:
            await client.post("/login", data={"token": await token_of(client, "/login"), "key": key})
            yield client
        server.should_exit = True
        await running


async def token_of(client, path):
    return (await client.get(path)).text.split('name="token" value="')[1].split('"')[0]


async def test_pages_tell_to_come_again(client):
    """503 with Retry-After, as programs get it."""
    for path in ("/", "/?q=x", "/items/x", "/reviews", "/edges/x", "/sweeps", "/namespaces"):
        answer = await client.get(path)
        assert (answer.status_code, answer.headers["content-type"]) == (503, "text/html; charset=utf-8"), path
        assert int(answer.headers["retry-after"]) > 0
        assert "not_ready" in answer.text


async def test_health_says_what_is_the_matter(client):
    """The page is there when nothing else is, with the status of /readyz."""
    answer = await client.get("/health")
    assert answer.status_code == 503
    assert "starting" in answer.text
    assert (await client.get("/health", headers={"Accept-Language": "ja"})).text.count("起動中") == 1


async def test_what_changes_something_waits_as_long_as_it_may(client):
    """An undo that came too early is not lost at once."""
    sent = {"token": await token_of(client, "/health")}
    path = "/sweeps/sweep-20260101-001/undo"
    answer = await client.post(path, data=sent, headers={"Request-Timeout-Ms": "400"})
    assert (answer.status_code, "not_ready" in answer.text) == (503, True)


async def test_too_large_a_body_is_refused_on_a_page(client):
    """Before anything reads it."""
    answer = await client.post("/logout", content=b"x" * 1_100_000)
    assert (answer.status_code, answer.headers["content-type"]) == (413, "text/html; charset=utf-8")
