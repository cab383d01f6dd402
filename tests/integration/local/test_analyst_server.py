"""The analysts' server: one namespace of the run's graph, copied while it is in use, served read-only.

The tests use one home one after the other, as starting a server costs seconds.
"""

import socket
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import httpx
import msgspec
import pytest
from neo4j import AsyncGraphDatabase
from neo4j.exceptions import AuthError, Neo4jError

from graph.local.errors import HomeRefused, ServerStartFailed
from graph.local.filelock import attempt
from graph.local.state import Phase
from librarian.analyst.server import AnalystServer
from librarian.base.errors import Conflict, NotFound

pytestmark = pytest.mark.slow

# As long as these a string stands in the files of a store as it is.
KEPT, FORGOTTEN = (
    f"{what}-so-long-that-it-is-not-packed-into-a-record-of-the-store-but-stands-there-as-it-is"
    for what in ("kept", "planted")
)
ROWS = (
    {"kind": "message", "uid": "m1", "message_id": "m1", "conversation_id": "c", "author": "Ada", "text": "It failed."},
    {"kind": "message", "uid": "m2", "message_id": "m2", "conversation_id": "c", "author": "Bo", "text": "Why? なぜ?"},
    {"kind": "memory", "uid": "cause", "text": f"The chart lost two lines: {KEPT}.", "type": "Problem"},
    {"kind": "memory", "uid": "effect", "text": "The deploy failed.", "type": "Problem", "evidence": ["m1"]},
    {"kind": "edge", "source": "cause", "type": "CAUSES", "target": "effect", "reason": "the lines", "confidence": 0.9},
)


@pytest.fixture(scope="module")
async def shelf(librarian):
    """A namespace with something of everything, of which something was forgotten, beside another one."""
    names = [f"test-analyst-{uuid.uuid4().hex[:12]}" for _ in range(2)]

    async def lines() -> AsyncIterator[tuple[int, bytes]]:
        for number, row in enumerate([*ROWS, {"kind": "memory", "uid": "gone", "text": FORGOTTEN}], start=1):
            yield number, msgspec.json.encode(row)

    for name in names:
        assert (await librarian.ingest(lines(), namespace=name)).failed == 0
        await librarian.delete_item(name, "gone")
    yield names[0]
    for name in names:
        preview = await librarian.delete_namespace(name)
        await librarian.delete_namespace(name, preview.confirm_token)


@pytest.fixture(scope="module")
async def analysts(settings, tmp_path_factory):
    """The analysts' server of a home of its own."""
    made = AnalystServer(replace(settings, home=tmp_path_factory.mktemp("analyst ホーム") / "home"))
    yield made
    await made.stop()


@asynccontextmanager
async def logged_in(analysts, password=None):
    """Speaks to the analysts' server as an analyst does."""
    status = analysts.server.status()
    login = ("neo4j", password or analysts.server.password())
    async with AsyncGraphDatabase.driver(f"bolt://127.0.0.1:{status.bolt_port}", auth=login) as driver:
        yield driver


async def test_before_the_first_start_there_is_nothing(analysts):
    """Asking and stopping make no folder."""
    assert not await analysts.stop()
    status = analysts.status()
    assert (status.server.phase, status.copy) == (Phase.STOPPED, None)
    assert not analysts.server.password_file.parent.parent.exists()


async def test_what_cannot_be_served_is_refused_before_anything_is_made(analysts, librarian, shelf, settings, tmp_path):
    """An unknown namespace, a port that is taken, another start at the same time, a folder that is not ours."""
    with pytest.raises(NotFound, match="no namespace"):
        await analysts.start(librarian, f"{shelf}-not")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ServerStartFailed, match=f"bolt port {port} is taken"):
            await analysts.start(librarian, shelf, bolt_port=port)
        with pytest.raises(ServerStartFailed, match=f"http port {port} is taken"):
            await analysts.start(librarian, shelf, http_port=port)
    with attempt(analysts.server.password_file.parents[1] / "analyst.lock"), pytest.raises(Conflict, match="another"):
        await analysts.start(librarian, shelf)
    elsewhere = AnalystServer(replace(settings, home=tmp_path))
    (tmp_path / "analyst").mkdir()
    (tmp_path / "analyst" / "thesis.txt").write_text("years of work")
    assert not await elsewhere.stop()
    with pytest.raises(HomeRefused, match="not part of an analysts"):
        await elsewhere.start(librarian, shelf)
    assert (tmp_path / "analyst" / "thesis.txt").exists()
    assert analysts.status().copy is None


async def test_a_copy_holds_its_namespace_and_nothing_else(analysts, librarian, shelf):
    """Items with their edges, evidence and order, found by words; a node tells what it is a copy of, and of when."""
    before = datetime.now(UTC) - timedelta(seconds=5)
    status = await analysts.start(librarian, shelf)
    assert status.server.phase is Phase.READY
    assert status.copy is not None
    assert (status.copy.namespaces, status.copy.items, status.copy.whole) == ([shelf], 4, False)
    assert before < status.copy.taken_at <= datetime.now(UTC) + timedelta(seconds=5)
    async with logged_in(analysts) as driver:
        items, _, _ = await driver.execute_query("MATCH (m:Item) RETURN m.namespace AS namespace, m.uid AS uid")
        assert sorted((row["namespace"], row["uid"]) for row in items) == [
            (shelf, uid) for uid in ("cause", "effect", "m1", "m2")
        ]
        edges, _, _ = await driver.execute_query(
            "MATCH (a:Item)-[r:CAUSES|EVIDENCED_BY|NEXT]->(b:Item) RETURN a.uid, type(r), b.uid ORDER BY type(r)"
        )
        assert [tuple(row) for row in edges] == [
            ("cause", "CAUSES", "effect"),
            ("effect", "EVIDENCED_BY", "m1"),
            ("m1", "NEXT", "m2"),
        ]
        found, _, _ = await driver.execute_query(
            "CALL db.index.fulltext.queryNodes('item_text', 'deploy') YIELD node RETURN node.uid"
        )
        assert [row[0] for row in found] == ["effect"]
        (note,), _, _ = await driver.execute_query("MATCH (c:AnalystCopy) RETURN c.name, c.taken_at, c.namespaces")
        assert note["c.name"].startswith(f"copy of namespace {shelf}, ")
        assert note["c.taken_at"].to_native() == status.copy.taken_at
        (waiting,), _, _ = await driver.execute_query("MATCH (m:PendingEmbedding) RETURN count(m)")
        assert waiting[0] == 0


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE (:Memory {namespace: 'x', uid: 'forged'})",
        "MATCH (m:Item) DETACH DELETE m",
        "MATCH (m:Memory) SET m.text = 'forged'",
        "CREATE INDEX forged FOR (m:Memory) ON (m.text)",
        "LOAD CSV FROM 'http://127.0.0.1:9/stolen' AS row RETURN row",
        "LOAD CSV FROM 'file:///etc/passwd' AS row RETURN row",
        "CALL dbms.setConfigValue('server.databases.default_to_read_only', 'false')",
    ],
)
async def test_an_analyst_cannot_change_the_copy_or_reach_further(analysts, statement):
    """Nor fetch an address or a file, nor lift the rule."""
    async with logged_in(analysts) as driver:
        with pytest.raises(Neo4jError) as refused:
            await driver.execute_query(statement)
        assert refused.value.code.startswith("Neo.ClientError.")


async def test_the_main_servers_password_does_not_open_the_copy(analysts, librarian, settings):
    """Nor the other way round: each server has its own."""
    own = settings.neo4j.password or (settings.home / "neo4j.password").read_text().strip()
    assert own != analysts.server.password()
    async with logged_in(analysts, own) as driver:
        with pytest.raises(AuthError):
            await driver.execute_query("RETURN 1")


async def test_the_copy_has_a_browser(analysts):
    """On its own port, on loopback only."""
    async with httpx.AsyncClient(trust_env=False, timeout=60) as client:
        answer = await client.get(f"http://127.0.0.1:{analysts.server.status().http_port}/browser/")
    assert answer.status_code == 200
    conf = (analysts.server.password_file.parent / "conf" / "neo4j.conf").read_text()
    assert "server.default_listen_address=127.0.0.1\n" in conf


async def test_a_stopped_server_keeps_its_copy_and_says_so(analysts, shelf):
    """The second stop has nothing to do. No file of the copy holds what was forgotten before it was taken."""
    assert await analysts.stop()
    status = analysts.status()
    assert status.server.phase is Phase.STOPPED
    assert status.copy is not None
    assert status.copy.namespaces == [shelf]
    assert not await analysts.stop()
    files = [path for path in analysts.server.password_file.parent.rglob("*") if path.is_file()]
    held = {word: {path.name for path in files if word.encode() in path.read_bytes()} for word in (KEPT, FORGOTTEN)}
    assert held[KEPT]
    assert held[FORGOTTEN] == set()
