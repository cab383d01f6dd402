"""The life of a managed server: shared, killed in every way, and stopped.

The tests use one home one after the other; each leaves it in a state in which the next can take a lease.
"""

import asyncio
import os
import socket
import stat
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace

import psutil
import pytest
import pytest_asyncio
from neo4j import AsyncGraphDatabase
from platformdirs import user_cache_path

from graph.local.errors import ServerNotRunning, ServerStartFailed
from graph.local.home import Home, write_secret
from graph.local.java import find_java
from graph.local.jvm import USUAL_PORTS, is_alive
from graph.local.server import Endpoint, ManagedServer, ServerOptions
from graph.local.spawn import spawn_keeper
from graph.local.state import Phase, read_state

pytestmark = pytest.mark.slow

SMALL = ServerOptions(heap_mb=512, pagecache_mb=256)
CACHE = user_cache_path("librarian")  # the jars are downloaded once for all runs
PATIENCE_S = 180

USER = """
import asyncio, sys
from pathlib import Path
from graph.local.server import ManagedServer
async def main():
    server = ManagedServer(Path(sys.argv[1]), Path(sys.argv[2]))
    async with await server.lease("victim"):
        print("leased", flush=True)
        await asyncio.sleep(600)
asyncio.run(main())
"""


async def until(condition: Callable[[], bool]) -> None:
    """Wait for what must happen. Only its absence fails a test, never its pace."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, "it never happened"
        await asyncio.sleep(0.05)


def runs(pid: int) -> bool:
    """Whether a process lives; one that ended but was not reaped by its parent does not."""
    try:
        return is_alive(psutil.Process(pid))
    except psutil.NoSuchProcess:
        return False


async def query(endpoint: Endpoint, statement: str, *, database: str = "neo4j", **values: object) -> list[object]:
    """The first column of a statement's answer."""
    login = (endpoint.username, endpoint.password)
    async with AsyncGraphDatabase.driver(endpoint.uri, auth=login) as driver:
        found = await driver.execute_query(statement, values, database_=database)
        return [record[0] for record in found.records]


def start_user(home: Home) -> subprocess.Popen[str]:
    """Another process that has a lease."""
    command = [sys.executable, "-c", USER, str(home.path), str(CACHE)]
    user = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert user.stdout is not None
    assert user.stdout.readline() == "leased\n"
    return user


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    return Home(tmp_path_factory.mktemp("homes") / "with blank and ü")


@pytest_asyncio.fixture(scope="module")
async def server(home: Home) -> AsyncIterator[ManagedServer]:
    server = ManagedServer(home.path, CACHE, SMALL)
    yield server
    await server.stop()


@pytest.fixture
def taken_port() -> Iterator[int]:
    """A port that another program listens on: the usual Bolt port where that is still possible."""
    with socket.socket() as other:
        try:
            other.bind(("127.0.0.1", USUAL_PORTS.bolt))
        except OSError:
            other.bind(("127.0.0.1", 0))
        other.listen()
        yield other.getsockname()[1]


async def test_a_start_that_fails_says_why_with_the_end_of_the_log(home):
    """A server that cannot start is given up at once, with its own last words, and leaves nothing running."""
    greedy = ManagedServer(home.path, CACHE, ServerOptions(heap_mb=512, pagecache_mb=100_000_000))
    async with await greedy.lease("test"):
        with pytest.raises(ServerStartFailed, match="configuration was refused") as caught:
            await greedy.wait_ready()
        assert "memory" in caught.value.log_tail
        assert greedy.logs(30) == caught.value.log_tail
    await until(lambda: greedy.status().keeper_pid is None)
    assert greedy.status().phase is Phase.FAILED
    assert greedy.status().pid is None


async def test_a_configured_port_that_is_taken_is_an_error(home, taken_port):
    """An operator who names a port gets that port or an error that names it."""
    server = ManagedServer(home.path, CACHE, ServerOptions(heap_mb=512, pagecache_mb=256, bolt_port=taken_port))
    async with await server.lease("test"):
        with pytest.raises(ServerStartFailed, match=f"bolt port {taken_port} is taken"):
            await server.wait_ready()
    await until(lambda: server.status().keeper_pid is None)


async def test_two_users_share_a_server_and_the_last_one_stops_it(server, home, taken_port):
    """One server a home, in a session of its own, on a free port, with a private password; the last lease ends it."""
    other = ManagedServer(home.path, CACHE, SMALL)
    first, second = await asyncio.gather(server.lease("first"), other.lease("second"))
    async with first:
        endpoint = await server.wait_ready()
        status = server.status()
        async with second:
            assert await other.wait_ready() == endpoint
            assert other.status().keeper_pid == status.keeper_pid
            assert sorted(lease.purpose for lease in other.status().leases) == ["first", "second"]
            await first.release()
            assert await query(endpoint, "RETURN 1") == [1]
            assert server.status().pid == status.pid
        assert status.bolt_port not in (taken_port, None)
        assert os.getsid(status.pid) == os.getsid(status.keeper_pid) == status.keeper_pid != os.getsid(0)
        assert endpoint.password == server.password()
        assert stat.S_IMODE(home.password_file.stat().st_mode) == 0o600
        assert not home.first_password_file.exists()
    await until(lambda: server.status().keeper_pid is None)
    assert server.status().phase is Phase.STOPPED
    assert read_state(home.state).clean
    assert not runs(status.pid)
    with pytest.raises(ServerNotRunning):
        await server.wait_ready()


async def test_a_killed_server_comes_back_with_its_data(server):
    """kill -9 of the JVM: the keeper starts it again on the same ports, and what was committed is there."""
    async with await server.lease("test", linger_s=600):
        endpoint = await server.wait_ready()
        await query(endpoint, "CREATE (:Survivor {n: 42})")
        before = server.status()
        psutil.Process(before.pid).kill()
        await until(lambda: server.status().pid not in (before.pid, None) and server.status().phase is Phase.READY)
        assert await server.wait_ready() == endpoint
        assert await query(endpoint, "MATCH (s:Survivor) RETURN s.n") == [42]
        assert server.status().keeper_pid == before.keeper_pid


async def test_a_server_that_keeps_dying_is_given_up(home, tmp_path):
    """Restarts end after five quick failures in a row; the reason and the last log reach whoever waits."""
    broken = tmp_path / "broken"
    java = tmp_path / "java"
    real = find_java(os.environ).path
    java.write_text(f'#!/bin/sh\n[ ! -e "{broken}" ] || {{ echo broken on purpose; exit 1; }}\nexec "{real}" "$@"\n')
    java.chmod(0o755)
    server = ManagedServer(home.path, CACHE, replace(SMALL, java=str(java)))
    await server.stop()
    async with await server.lease("test"):
        await server.wait_ready()
        broken.touch()
        psutil.Process(server.status().pid).kill()
        await until(lambda: server.status().phase is Phase.FAILED)
        with pytest.raises(ServerStartFailed, match="died 5 times") as caught:
            await server.wait_ready()
        assert caught.value.log_tail == "broken on purpose"
        assert (home.path / "logs" / "keeper.log").read_text().count("restart ") == 5


async def test_a_killed_keeper_is_replaced_and_the_server_does_not_notice(server):
    """kill -9 of the keeper: the server goes on, a lease holder starts another keeper, which adopts it."""
    async with await server.lease("test", linger_s=600):
        endpoint = await server.wait_ready()
        before = server.status()
        psutil.Process(before.keeper_pid).kill()
        assert await query(endpoint, "RETURN 1") == [1]
        await until(lambda: server.status().keeper_pid not in (before.keeper_pid, None))
        assert await server.wait_ready() == endpoint
        assert server.status().pid == before.pid


async def test_whoever_comes_second_with_a_keeper_goes_on_with_the_first(server, home):
    """Two keepers at once, as where the starter of one was killed and its lock is free: one has the home, both starters
    find it.
    """
    async with await server.lease("test", linger_s=0):
        await server.wait_ready()
    await server.stop()
    await asyncio.gather(spawn_keeper(home), spawn_keeper(home))
    async with await server.lease("test"):
        endpoint = await server.wait_ready()
        assert await query(endpoint, "RETURN 1") == [1]


async def test_a_server_without_keeper_and_users_is_still_stopped_by_the_operator(server, home):
    """kill -9 of the keeper with nobody left to replace it: `status` sees the server, `stop` ends it in good order."""
    async with await server.lease("test", linger_s=600):
        await server.wait_ready()
        before = server.status()
    psutil.Process(before.keeper_pid).kill()
    await until(lambda: server.status().keeper_pid is None)
    assert (server.status().phase, server.status().pid) == (Phase.READY, before.pid)
    assert await server.stop() is True
    assert not runs(before.pid)
    assert (server.status().phase, read_state(home.state).clean) == (Phase.STOPPED, True)
    assert await server.stop() is False


async def test_a_crash_while_the_first_password_is_replaced_is_repaired(server, home):
    """The server still has the throw-away password, the home both: the next start settles on the home's."""
    async with await server.lease("test"):
        endpoint = await server.wait_ready()
        change = "ALTER CURRENT USER SET PASSWORD FROM $old TO $new"
        await query(endpoint, change, database="system", old=endpoint.password, new="throw-away")
        write_secret(home.first_password_file, "throw-away")
        before = server.status()
        psutil.Process(before.pid).kill()
        await until(lambda: server.status().pid not in (before.pid, None) and server.status().phase is Phase.READY)
        assert await query(endpoint, "RETURN 1") == [1]
        assert not home.first_password_file.exists()
        with start_user(home) as victim:
            assert [lease.purpose for lease in server.status().leases if lease.pid == victim.pid] == ["victim"]
            victim.kill()
    # Both leases have ended, one by its holder's violent death: nobody is left.
    await until(lambda: server.status().keeper_pid is None)
    assert server.status().phase is Phase.STOPPED


async def test_a_pinned_server_stays_until_it_is_stopped_and_stop_is_final(server):
    """A pin outlives the leases; `stop` ends pin and server, and lease holders do not bring it back."""
    await server.pin()
    async with await server.lease("test") as lease:
        await server.wait_ready()
        await lease.release()
        assert server.status().pinned
        pid = server.status().pid
        async with await server.lease("another"):
            assert server.status().pid == pid
            assert await server.stop() is True
            assert not server._keeper_crashed()
            with pytest.raises(ServerNotRunning):
                await server.wait_ready()
            assert not server.status().pinned
