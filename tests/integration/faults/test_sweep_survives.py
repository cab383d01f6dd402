"""A sweep whose service or database is killed while it writes, or whose database has no room to write."""

import asyncio
import contextlib
import os
import shutil
import signal
import subprocess

import httpx
import pytest

from graph.config import GraphConfig
from graph.driver import open_driver
from graph.executor import Executor
from graph.local.server import ManagedServer, ServerOptions
from librarian.base.keys import KeyFile, ensure_admin_key
from librarian.sweep.run import lease_name

pytestmark = pytest.mark.slow

COUNT, MORE = 320, 520
DISK = "160m"


def memory(number):
    return {
        "kind": "memory",
        "uid": f"m{number:04}",
        "text": f"Decision: queue q{number} is drained before ticket OPS-{number} is closed. Otherwise mails are lost.",
        "domain": "mail",
    }


async def test_a_sweep_goes_on_after_its_database_was_killed(
    server, endpoint, graph, serve, http, ready, eventually, headers, namespace
):
    """kill -9 of Neo4j in the middle of applying: the sweep waits or is resumed, ends like an undisturbed one, and does
    nothing twice; its undoing restores every text.
    """
    service = await serve(LIBRARIAN_ENCODER="none")
    await ready(service)
    twin = {**headers, "Librarian-Namespace": f"{namespace}-twin"}
    for each in (headers, twin):
        stored = await http.post(f"{service.url}/v1/items", json=[memory(n) for n in range(COUNT)], headers=each)
        assert stored.status_code == 200, stored.text
    before = await texts(graph, namespace)
    undisturbed = await http.post(f"{service.url}/v1/sweeps", json={}, headers=twin)
    assert undisturbed.status_code == 200, undisturbed.text

    running = asyncio.create_task(http.post(f"{service.url}/v1/sweeps", json={}, headers=headers))
    sweep_id = await begun(graph, namespace, running)
    os.kill(server.status().pid, signal.SIGKILL)
    answers = [await running]  # it outlasts a recovery that is quick enough
    assert answers[0].status_code in {200, 503}, answers[0].text
    await ready(service)

    async def ended():  # as soon as the lease of a run that was cut short is over
        if answers[-1].status_code != 200:
            answers.append(await http.post(f"{service.url}/v1/sweeps", json={"resume": sweep_id}, headers=headers))
        return answers[-1].status_code == 200

    await eventually(ended)
    assert answers[-1].json()["summary"] == undisturbed.json()["summary"]
    assert await texts(graph, namespace) == await texts(graph, f"{namespace}-twin") != before
    assert await revisions(graph, namespace) == await revisions(graph, f"{namespace}-twin")
    undone = await http.post(f"{service.url}/v1/sweeps/{sweep_id}/undo", headers=headers)
    assert undone.status_code == 200, undone.text
    assert await texts(graph, namespace) == before


async def test_a_sweep_goes_on_or_back_after_its_service_was_killed(graph, serve, http, ready, headers, namespace):
    """kill -9 of the service while two sweeps that were asked for over HTTP write: no memory is half written. The next
    service resumes the one, which ends like an undisturbed one and does nothing twice, and undoes the other, where
    nothing is left of it.
    """
    service = await serve(LIBRARIAN_ENCODER="none")
    await ready(service)
    resumed, undone, twin = spaces = [f"{namespace}-{name}" for name in ("resumed", "undone", "twin")]
    to = {name: {**headers, "Librarian-Namespace": name} for name in spaces}
    for name in spaces:
        rows = [memory(n) for n in range(MORE)]
        stored = await http.post(f"{service.url}/v1/items", json=rows, headers=to[name])
        assert stored.status_code == 200, stored.text
    before = await texts(graph, twin)
    undisturbed = await http.post(f"{service.url}/v1/sweeps", json={}, headers=to[twin])
    running = {
        name: asyncio.create_task(http.post(f"{service.url}/v1/sweeps", json={}, headers=to[name]))
        for name in (resumed, undone)
    }
    ids = {name: await begun(graph, name, running[name]) for name in running}
    await service.stop(signal.SIGKILL)
    for answer in await asyncio.gather(*running.values(), return_exceptions=True):
        assert isinstance(answer, httpx.TransportError)

    again = await serve(LIBRARIAN_ENCODER="none")
    await ready(again)
    for name in running:
        await end_lease(graph, name)
        swept = await texts(graph, name)
        written = [entry["text"].startswith("## ") for entry in swept]
        assert [entry["type"] == "Decision" for entry in swept] == written
    done = await http.post(f"{again.url}/v1/sweeps", json={"resume": ids[resumed]}, headers=to[resumed])
    assert (done.status_code, done.json()["summary"]) == (200, undisturbed.json()["summary"])
    assert await texts(graph, resumed) == await texts(graph, twin) != before
    assert {entry["revisions"] for entry in await revisions(graph, resumed)} == {1}
    for name in running:
        back = await http.post(f"{again.url}/v1/sweeps/{ids[name]}/undo", headers=to[name])
        assert (back.status_code, back.json()["changes_kept"]) == (200, 0), back.text
        assert await texts(graph, name) == before


@pytest.fixture
def small_disk(tmp_path):
    """A file system of its own that is soon full."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("only root may mount a file system, with the command mount")
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", folder], check=False, capture_output=True, text=True
    )
    if "permission denied" in mounted.stderr.lower():
        pytest.skip(f"root may not mount a file system here: {mounted.stderr.strip()}")
    assert mounted.returncode == 0, mounted.stderr
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)


@pytest.fixture
async def cramped(small_disk, cache, copy_home):
    """A server whose home is on that disk."""
    copy_home(small_disk / "home")
    own = ManagedServer(small_disk / "home", cache, ServerOptions(heap_mb=512, pagecache_mb=256))
    yield own
    await own.stop()


@contextlib.asynccontextmanager
async def started(server):
    """A look into the graph of a server that is started for it, perhaps on other ports than before."""
    await server.pin()
    endpoint = await server.wait_ready()
    async with open_driver(GraphConfig(endpoint.uri, endpoint.username, endpoint.password)) as driver:
        yield Executor(driver)


async def test_a_sweep_goes_on_after_the_disk_was_full(cramped, small_disk, serve, http, ready, eventually, namespace):
    """A disk that fills up in the middle of applying: the sweep and whoever else asks is told what to do, and so is
    /readyz. After there is room again and the database was started anew, nothing is half done; the sweep is resumed,
    and undone byte for byte.
    """
    home = small_disk / "home"
    async with started(cramped) as graph:
        headers = {"Authorization": f"Bearer {ensure_admin_key(KeyFile(home / 'keys.json'), home)}"}
        headers["Librarian-Namespace"] = namespace
        service = await serve(LIBRARIAN_ENCODER="none", LIBRARIAN_HOME=str(home))
        await ready(service)
        stored = await http.post(f"{service.url}/v1/items", json=[memory(n) for n in range(MORE)], headers=headers)
        assert stored.status_code == 200, stored.text
        before = await texts(graph, namespace)
        running = asyncio.create_task(http.post(f"{service.url}/v1/sweeps", json={}, headers=headers))
        sweep_id = await begun(graph, namespace, running)
        fill(small_disk)
        reported = await running
    assert (reported.status_code, reported.json()["code"]) == (503, "database_cannot_write")
    assert "Make room" in reported.json()["detail"]

    async def said():
        probe = await http.get(f"{service.url}/readyz")
        return probe.status_code == 503 and "Make room" in probe.text

    await eventually(said)
    (small_disk / "ballast").unlink()
    await cramped.stop()
    async with started(cramped) as graph:
        await ready(service)
        await end_lease(graph, namespace)
        swept = await texts(graph, namespace)
        written = [entry["text"].startswith("## ") for entry in swept]
        assert True in written
        assert [entry["type"] == "Decision" for entry in swept] == written
        done = await http.post(f"{service.url}/v1/sweeps", json={"resume": sweep_id}, headers=headers)
        assert (done.status_code, done.json()["status"]) == (200, "applied"), done.text
        assert done.json()["summary"]["memories_templated"] == MORE
        assert {entry["revisions"] for entry in await revisions(graph, namespace)} == {1}
        undone = await http.post(f"{service.url}/v1/sweeps/{sweep_id}/undo", headers=headers)
        assert (undone.status_code, undone.json()["changes_kept"]) == (200, 0), undone.text
        assert await texts(graph, namespace) == before


def fill(disk):
    """Leave not one byte of room on a disk."""
    with (disk / "ballast").open("wb", buffering=0) as ballast:
        for size in (1 << 20, 1 << 12, 1):
            with contextlib.suppress(OSError):
                while True:
                    ballast.write(bytes(size))
    assert shutil.disk_usage(disk).free == 0


async def begun(graph, namespace, running):
    """The id of the sweep, once some of its changes are committed."""
    while True:
        found, _, _ = await graph.driver.execute_query(
            "MATCH (:SweepRun {namespace: $namespace})-[c:CHANGED]->() RETURN c.sweep_id AS sweep_id LIMIT 1",
            {"namespace": namespace},
        )
        if found:
            return found[0]["sweep_id"]
        assert not running.done(), running.result().text
        await asyncio.sleep(0.01)


async def end_lease(graph, namespace):
    """Let the lease of a sweep end now that nobody holds any more."""
    await graph.driver.execute_query("MATCH (lock:Lock {name: $name}) DELETE lock", {"name": lease_name(namespace)})


async def texts(graph, namespace):
    """Text, type and tags of every memory."""
    found, _, _ = await graph.driver.execute_query(
        "MATCH (m:Memory {namespace: $namespace}) RETURN m.uid AS uid, m.text AS text, m.type AS type, m.tags AS tags "
        "ORDER BY uid",
        {"namespace": namespace},
    )
    return [record.data() for record in found]


async def revisions(graph, namespace):
    """How many revisions each memory has."""
    found, _, _ = await graph.driver.execute_query(
        "MATCH (m:Memory {namespace: $namespace}) RETURN m.uid AS uid, COUNT { (m)-[:HAS_REVISION]->() } AS revisions "
        "ORDER BY uid",
        {"namespace": namespace},
    )
    return [record.data() for record in found]
