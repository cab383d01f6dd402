"""Databases that refuse us, are too new, are not there, or must start without a network."""

import contextlib
import json
import random
import socket

import pytest
import pytest_asyncio

from graph.local.server import ManagedServer, ServerOptions

pytestmark = pytest.mark.slow

FUTURE = "9999"


@pytest.fixture
def reported(http, eventually):
    """Waits until /readyz of a service is in a phase; what it says of the graph is returned."""

    async def wait(service, phase):
        said = {}

        async def reached():
            answer = await http.get(f"{service.url}/readyz")
            assert answer.status_code == 503, answer.text
            said.update(answer.json())
            return said["phase"] == phase

        await eventually(reached)
        assert (await http.get(f"{service.url}/healthz")).status_code == 200
        return said["checks"]["graph"]

    return wait


@pytest_asyncio.fixture
async def newer(graph, cli):
    """The graph with the record of a migration that this version does not know."""
    assert (await cli("migrate", "apply"))[0] == 0
    await graph.driver.execute_query(
        "CREATE (:Migration {version: $version, name: 'from_the_future', kind: 'schema', checksum: 'x', "
        "status: 'applied', app_version: '99.0', finished_at: datetime()})",
        {"version": FUTURE},
    )
    yield
    await graph.driver.execute_query("MATCH (m:Migration {version: $version}) DELETE m", {"version": FUTURE})


@pytest.fixture
def dead_port():
    """A port on which nobody listens yet, and which no connection is given by chance: it lies below those."""
    for port in random.sample(range(20_000, 32_000), 100):
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
    raise AssertionError("no port is free")


@pytest.fixture
def trap():
    """A listener that lets no connection pass unseen; yields its address and who called."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)

        def calls():
            try:
                listener.accept()[0].close()
            except BlockingIOError:
                return 0
            return 1 + calls()

        yield f"http://127.0.0.1:{listener.getsockname()[1]}", calls


async def test_a_wrong_password_is_named_and_not_shown(endpoint, cli, serve, reported, http, headers):
    """The command ends with exit code 77 and names the variables; a service says the same in /readyz and to clients,
    which may come again: it goes on trying.
    """
    wrong = {"NEO4J_URI": endpoint.uri, "NEO4J_PASSWORD": "not-the-password"}
    code, out, err = await cli("search", "anything", **wrong)
    assert (code, out) == (77, "")
    assert "NEO4J_PASSWORD" in err
    assert "Traceback" not in err
    service = await serve(**wrong)
    assert "NEO4J_PASSWORD" in await reported(service, "failed")
    refusal = await http.post(f"{service.url}/v1/search", json={"queries": ["x"]}, headers=headers)
    assert (refusal.status_code, refusal.json()["code"]) == (503, "not_ready")
    assert "NEO4J_PASSWORD" in refusal.json()["detail"]
    assert int(refusal.headers["retry-after"]) > 2
    assert "not-the-password" not in err + service.log.read_text()


async def test_a_newer_graph_is_refused_and_can_still_be_looked_at(newer, cli, serve, reported):
    """search and serve name the version and the remedy and leave the graph alone; `migrate status` lists it."""
    code, out, err = await cli("search", "anything")
    assert (code, out) == (78, "")
    assert FUTURE in err
    assert "Upgrade Librarian" in err
    assert "Traceback" not in err
    reason = await reported(await serve(), "failed")
    assert FUTURE in reason
    assert "Upgrade Librarian" in reason
    code, out, _ = await cli("migrate", "status", "--json")
    assert code == 0
    assert FUTURE in {migration["version"] for migration in json.loads(out)}


async def test_a_service_waits_for_a_database_that_comes_later(
    server, endpoint, home, cache, cli, serve, reported, ready, dead_port
):
    """Where nobody listens a command ends with exit code 69; a service lives, says so, and is ready once Neo4j is."""
    assert (await cli("migrate", "apply"))[0] == 0
    await server.stop()
    later = {
        "NEO4J_URI": f"bolt://127.0.0.1:{dead_port}",
        "NEO4J_PASSWORD": endpoint.password,
        "LIBRARIAN_ENCODER": "none",
    }
    code, out, err = await cli("search", "anything", **later)
    assert (code, out) == (69, "")
    assert "does not answer" in err
    assert "Traceback" not in err
    service = await serve(**later)
    assert "does not answer" in await reported(service, "unreachable")
    appearing = ManagedServer(home, cache, ServerOptions(heap_mb=512, pagecache_mb=256, bolt_port=dead_port))
    async with await appearing.lease("test"):
        await ready(service)
        assert await service.stop() == 0


async def test_a_warm_cache_needs_no_network(server, cli, trap, namespace):
    """With everything downloaded, a stopped home starts and searches by both arms; no proxy and no repository is
    asked.
    """
    await server.stop()
    address, calls = trap
    proxies = {
        name: address
        for variable in ("http_proxy", "https_proxy", "all_proxy")
        for name in (variable, variable.upper())
    }
    offline = {**proxies, "no_proxy": "", "NO_PROXY": "", "LIBRARIAN_MAVEN_URL": address}
    code, out, _ = await cli("search", "anything", "-n", namespace, "--json", **offline)
    assert code == 0
    assert json.loads(out)["arms"] == {"vector": "ok", "keyword": "ok"}
    assert calls() == 0
