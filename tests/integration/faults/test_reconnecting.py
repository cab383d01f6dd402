"""A running service whose database goes away, comes back elsewhere, or is mended: it needs no restart."""

import asyncio
import contextlib
import gc
import json
import socket

import pytest
from neo4j import AsyncDriver

from graph.config import GraphConfig
from graph.driver import open_driver
from graph.errors import DatabaseAuthFailed, DatabaseUnavailable
from graph.executor import Executor
from graph.local.server import ManagedServer, ServerOptions
from librarian.base.settings.settings import Settings
from librarian.runtime.assembly import Assembly
from librarian.runtime.lifecycle import Lifecycle

pytestmark = pytest.mark.slow

QUERY = {"queries": ["ferry"]}
ROW = {"kind": "message", "uid": "m1", "text": "The ferry leaves at nine."}


@pytest.fixture
def readiness(http, eventually):
    """Waits until /readyz of a service is in a phase; its reason is returned."""

    async def wait(service, phase):
        said = {}

        async def reached():
            answer = await http.get(f"{service.url}/readyz")
            said.update(answer.json())
            return said["phase"] == phase

        await eventually(reached)
        return said["checks"]["graph"]

    return wait


@pytest.fixture
def assembly(endpoint):
    """Builds the parts of a Librarian over the server by its address, as for a server of somebody's own."""

    @contextlib.asynccontextmanager
    async def opened(**changed):
        env = {"NEO4J_URI": endpoint.uri, "NEO4J_PASSWORD": endpoint.password, "LIBRARIAN_ENCODER": "none", **changed}
        settings = Settings.from_env(env)
        async with contextlib.AsyncExitStack() as stack:
            yield Assembly(settings, Lifecycle(), stack, "test", 0, None)

    return opened


def open_drivers():
    """Drivers of this process that nobody has closed."""
    gc.collect()
    return [entry for entry in gc.get_objects() if issubclass(type(entry), AsyncDriver) and not entry._closed]


async def found(http, service, headers):
    answer = await http.post(f"{service.url}/v1/search", json=QUERY, headers=headers)
    return answer.status_code == 200 and [hit["uid"] for hit in answer.json()["results"]] == ["m1"]


async def test_a_service_follows_its_server_to_other_ports(
    server, endpoint, home, cache, serve, http, ready, readiness, headers, namespace, eventually
):
    """`server stop`: requests get 503 with Retry-After, /readyz names the remedy, and the service does not undo it.
    Started again on other ports, the same process answers searches again, and still counts as a user of the server.
    """
    service = await serve(LIBRARIAN_ENCODER="none")
    await ready(service)
    assert (await http.post(f"{service.url}/v1/items", json=ROW, headers=headers)).status_code == 200
    assert await found(http, service, headers)
    statuses, stop = [], asyncio.Event()

    async def client(path, body):
        while not stop.is_set():
            answer = await http.post(f"{service.url}{path}", json=body, headers=headers)
            statuses.append((answer.status_code, "retry-after" in answer.headers))
            await asyncio.sleep(0.05)

    clients = [asyncio.create_task(client("/v1/search", QUERY)), asyncio.create_task(client("/v1/items", ROW))]
    await server.stop()
    reason = await readiness(service, "unreachable")
    assert "`librarian server start` starts it" in reason
    assert server.status().phase == "stopped"
    with socket.create_server(("127.0.0.1", 0)) as reserved:
        elsewhere = reserved.getsockname()[1]
    moved = ManagedServer(home, cache, ServerOptions(heap_mb=512, pagecache_mb=256, bolt_port=elsewhere))
    await moved.pin()
    there = await moved.wait_ready()
    assert there.uri != endpoint.uri
    await ready(service)
    assert await found(http, service, headers)
    stop.set()
    await asyncio.gather(*clients)
    assert {status for status, _ in statuses} == {200, 503}
    assert {retry for status, retry in statuses if status == 503} == {True}
    assert service.process.returncode is None
    assert service.process.pid in {lease.pid for lease in server.status().leases}


async def test_a_service_survives_a_restart_of_a_server_of_somebody_s_own(
    server, endpoint, home, cache, serve, http, ready, readiness, headers
):
    """Reached by NEO4J_URI, stopped and started on the same port: unreachable meanwhile, then it answers again."""
    port = int(endpoint.uri.rpartition(":")[2])
    service = await serve(NEO4J_URI=endpoint.uri, NEO4J_PASSWORD=endpoint.password, LIBRARIAN_ENCODER="none")
    await ready(service)
    await http.post(f"{service.url}/v1/items", json=ROW, headers=headers)
    await server.stop()
    assert "not answer" in await readiness(service, "unreachable")
    refused = await http.post(f"{service.url}/v1/search", json=QUERY, headers=headers)
    assert (refused.status_code, "retry-after" in refused.headers) == (503, True)
    same = ManagedServer(home, cache, ServerOptions(heap_mb=512, pagecache_mb=256, bolt_port=port))
    await same.pin()
    await same.wait_ready()
    await ready(service)
    assert await found(http, service, headers)


async def test_a_password_that_is_corrected_in_the_database_lets_the_service_in(
    endpoint, graph, serve, ready, readiness, http, headers
):
    """It goes on trying, slowly; the reason names the variables; no restart is needed."""
    await graph.driver.execute_query("CREATE OR REPLACE USER reader SET PASSWORD 'another-one' CHANGE NOT REQUIRED")
    service = await serve(
        NEO4J_URI=endpoint.uri,
        NEO4J_USERNAME="reader",
        NEO4J_PASSWORD="the-right-one",
        LIBRARIAN_ENCODER="none",
    )
    assert "NEO4J_PASSWORD" in await readiness(service, "failed")
    refused = await http.post(f"{service.url}/v1/items", json=ROW, headers=headers)
    assert (refused.status_code, "retry-after" in refused.headers) == (503, True)
    await graph.driver.execute_query("ALTER USER reader SET PASSWORD 'the-right-one' CHANGE NOT REQUIRED")
    await ready(service)
    assert (await http.post(f"{service.url}/v1/items", json=ROW, headers=headers)).status_code == 200


async def test_migrations_that_are_applied_later_let_the_service_in(
    server, serve, ready, readiness, cli, tmp_path, cache
):
    """On a server of somebody's own a missing migration is named; `librarian migrate apply` beside it is enough."""
    fresh = ManagedServer(tmp_path / "empty", cache, ServerOptions(heap_mb=512, pagecache_mb=256))
    async with await fresh.lease("test"):
        empty = await fresh.wait_ready()
        own = {"NEO4J_URI": empty.uri, "NEO4J_PASSWORD": empty.password, "LIBRARIAN_ENCODER": "none"}
        service = await serve(**own)
        assert "librarian migrate apply" in await readiness(service, "failed")
        assert (await cli("migrate", "apply", **own))[0] == 0
        await ready(service)
        assert await service.stop() == 0


async def test_failed_attempts_to_connect_leave_no_driver_open(assembly):
    """However often it is refused, nothing is left behind; what was connected is closed with the service."""
    before = len(open_drivers())
    for changed, error in (
        ({"NEO4J_PASSWORD": "wrong"}, DatabaseAuthFailed),
        ({"NEO4J_URI": "bolt://127.0.0.1:1"}, DatabaseUnavailable),
    ):
        async with assembly(**changed) as refused:
            for _ in range(2):
                with pytest.raises(error):
                    await refused.connect()
            assert len(open_drivers()) == before
    async with assembly() as connected:
        first = await connected.connect()
        assert await connected.connect() is first
        assert len(open_drivers()) == before + 1
    assert len(open_drivers()) == before


async def test_work_in_flight_ends_on_the_driver_it_began_with(endpoint):
    """New work goes over the new driver at once; the old one is closed when its last work has ended, or right away."""
    config = GraphConfig(endpoint.uri, endpoint.username, endpoint.password)
    first, second, third = (open_driver(config) for _ in range(3))
    executor = Executor(first)
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def work(transaction):
        begun.set()
        await go_on.wait()
        return await transaction.run("ping", {})

    in_flight = asyncio.create_task(executor.transaction("slow_work", work))
    await begun.wait()
    await executor.reconnect(second)
    assert executor.driver is second
    assert await executor.fetch_one("ping") == {"alive": 1}
    assert not first._closed
    go_on.set()
    assert await in_flight == [{"alive": 1}]
    assert first._closed
    await executor.reconnect(third)
    assert second._closed
    await executor.aclose()
    assert third._closed


async def test_figures_of_the_database_are_told(server, endpoint, serve, http, ready, headers):
    """Statements by name, the pool, and batches of ingest are counted; slow statements are logged, without texts."""
    service = await serve(LIBRARIAN_ENCODER="none", LIBRARIAN_SLOW_QUERY_MS="1", LIBRARIAN_LOG_LEVEL="debug")
    await ready(service)
    secret = {**ROW, "text": "an unspeakable secret"}
    assert (await http.post(f"{service.url}/v1/items", json=secret, headers=headers)).status_code == 200
    await http.post(f"{service.url}/v1/items", json=secret, headers={**headers, "Request-Timeout-Ms": "1"})
    figures = (await http.get(f"{service.url}/metrics")).text
    for line in (
        'librarian_neo4j_query_seconds_count{statement="put_messages"}',
        "librarian_neo4j_connections_max 50.0",
        "librarian_neo4j_connections_in_use ",
        "librarian_ingest_batch_seconds_count ",
    ):
        assert line in figures
    slow = [json.loads(line) for line in service.log.read_text().splitlines() if '"slow query"' in line]
    assert {"put_messages", "list_migrations"} & {line["statement"] for line in slow}
    assert all(line["ms"] >= 1 and ("rows" in line or "code" in line) for line in slow)
    assert "unspeakable" not in service.log.read_text()
