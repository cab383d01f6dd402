"""One real graph for the whole run; each test works in a namespace of its own.

`NEO4J_URI` names the server to use. Without it LIBRARIAN_TEST_DOCKER=1 asks for a container of the official image, and
otherwise a managed one is started in a temporary home.
"""

import asyncio
import contextlib
import json
import os
import re
import secrets
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
import pytest
from filelock import FileLock
from platformdirs import user_cache_path

from graph.executor import Executor
from graph.local.class_archive import ClassArchive
from graph.local.conf import MAIN_CLASS
from graph.local.home import Home
from graph.local.java import find_java
from graph.local.jvm import LOOPBACK, USUAL_PORTS
from graph.local.server import ManagedServer
from graph.local.state import read_launch
from librarian.app import Librarian, open_librarian
from librarian.base.keys import KeyFile
from librarian.base.settings.settings import Settings
from librarian.http.app import build_app
from librarian.http.server import Server, listen
from librarian.http.web.session import Sessions
from librarian.items.contracts import IngestReport
from librarian.runtime.assembly import open_migrator
from librarian.search.contracts import SearchInput
from librarian.sweep.contracts import SweepRequest

HERE = Path(__file__).resolve().parent
COMPOSE = HERE.parents[1] / "compose.yaml"
IN_DOCKER = os.environ.get("LIBRARIAN_TEST_DOCKER") == "1" and not os.environ.get("NEO4J_URI")
BOLT_PORT = 7687
PATIENCE_S = 180

Ingest = Callable[..., Any]
CopyHome = Callable[[Path], None]
StartCommand = Callable[..., Awaitable["Command"]]
ServeApp = Callable[..., AbstractAsyncContextManager[str]]


# While a graph grows, a server plans its statements anew every ten seconds: most of its work in a run of tests.
_SERVER_SETTINGS = "-c dbms.cypher.min_replan_interval=1h"


@pytest.fixture(scope="session", autouse=True)
def _quick_java(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A JVM that compiles quickly rather than well, as most servers of a run end before the better code has paid, and
    collects garbage in one thread: with a heap this small that takes a tenth less processor time.
    """
    command = tmp_path_factory.mktemp("java") / "bin" / "java"
    command.parent.mkdir()
    command.write_text(f"""#!/bin/sh
case "$*" in *{MAIN_CLASS}*) set -- "$@" {_SERVER_SETTINGS} ;; esac
for flag; do
  shift
  [ "$flag" != -XX:+UseG1GC ] || flag=-XX:+UseSerialGC
  set -- "$@" "$flag"
done
exec "{find_java(os.environ).path}" -XX:TieredStopAtLevel=1 "$@"
""")
    command.chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JAVA_HOME", str(command.parents[1]))
        yield


@pytest.fixture(scope="session", autouse=True)
def _usual_ports() -> Iterator[None]:
    """Nobody's: a server that is started again on its own port would find that another one has taken it meanwhile."""
    with contextlib.ExitStack() as held:
        for port in (USUAL_PORTS.bolt, USUAL_PORTS.http):
            holder = held.enter_context(socket.socket())
            holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)  # each process of a run holds it
            with contextlib.suppress(OSError):  # a server that runs on this machine has it
                holder.bind((LOOPBACK, port))
        yield


@pytest.fixture(scope="session")
def database() -> Iterator[dict[str, str]]:
    """Settings that lead to the run's database; none for a managed one."""
    if IN_DOCKER:
        with neo4j_container() as container:
            yield container
    else:
        yield {name: value for name, value in os.environ.items() if name.startswith("NEO4J_")}


@contextlib.contextmanager
def neo4j_container() -> Iterator[dict[str, str]]:
    """The image of compose.yaml, removed at the end; settings that lead to it. Skips where no Docker engine answers."""
    from testcontainers.core.container import DockerContainer
    from testcontainers.core.wait_strategies import LogMessageWaitStrategy

    (image,) = re.findall(r"image: (neo4j:\S+)", COMPOSE.read_text(encoding="utf-8"))
    if missing := _docker_fault():
        pytest.skip(f"LIBRARIAN_TEST_DOCKER=1 asks for {image}, but no Docker engine answers: {missing}")
    password = secrets.token_hex(16)
    container = DockerContainer(image).with_exposed_ports(BOLT_PORT).waiting_for(LogMessageWaitStrategy("Started."))
    container.with_env("NEO4J_AUTH", f"neo4j/{password}").with_env("NEO4J_db_query_default__language", "CYPHER_25")
    with container:
        address = f"bolt://{container.get_container_host_ip()}:{container.get_exposed_port(BOLT_PORT)}"
        yield {"NEO4J_URI": address, "NEO4J_PASSWORD": password}
    container.get_docker_client().client.close()


def _docker_fault() -> str:
    """Why no container can be started; empty where one can."""
    if shutil.which("docker") is None:
        return "the command docker is not installed"
    asked = subprocess.run(["docker", "info"], check=False, capture_output=True, text=True)
    return asked.stderr.strip() if asked.returncode else ""


@pytest.fixture(scope="session", autouse=True)
async def copy_home(tmp_path_factory: pytest.TempPathFactory, _quick_java: None) -> CopyHome:
    """Copies a home whose graph is migrated and empty, which is soon done: a first start has 50 statements to run.

    The first process of a run that needs the home makes it, before any other server is started. Where one process runs
    all tests there is nothing to gain: each home is made by its own first start.
    """
    if "PYTEST_XDIST_WORKER" not in os.environ:
        return lambda _home: None
    shared = tmp_path_factory.getbasetemp().parent
    made = shared / "template" / "home"
    with FileLock(shared / "template.lock"):
        if not made.exists():
            scratch = tmp_path_factory.mktemp("template")
            await _make_home(scratch / "home")
            await _make_class_archive(scratch / "home", scratch / "used")
            made.parent.mkdir()
            (scratch / "home").rename(made)
    return lambda home: _copy(made, home)


async def _make_home(home: Path) -> None:
    async with open_librarian(_lean(home), purpose="tests", linger_s=0):
        pass
    await ManagedServer(home, _cache()).stop()


async def _make_class_archive(home: Path, used: Path) -> None:
    """Have the product write its class archive, by a server that has planned statements: whichever server ended first
    would write one, and a start that has to load the classes of the planner costs a third more.
    """
    launch = read_launch(Home(home).launch)
    if ClassArchive(Path(launch.jars), launch.java_build, home).path.exists():
        return
    _copy(home, used)
    async with open_librarian(_lean(used), purpose="tests", linger_s=0) as librarian:
        await librarian.ingest(_some_lines(), namespace="warm")
        await librarian.embed_pending()
        await librarian.search("warm", SearchInput(queries=["ferry"]))
        await librarian.sweep("warm", SweepRequest())
    await ManagedServer(used, _cache()).stop()


async def _some_lines() -> AsyncIterator[tuple[int, bytes]]:
    for number, kind in enumerate(("memory", "message", "fact"), start=1):
        yield number, msgspec.json.encode({"kind": kind, "text": "The ferry leaves at nine because of the tide."})


def _copy(home: Path, to: Path) -> None:
    shutil.copytree(home, to, ignore=shutil.ignore_patterns("logs"), dirs_exist_ok=True)


def _cache() -> Path:
    return Path(os.environ.get("LIBRARIAN_CACHE") or user_cache_path("librarian"))


def _lean(home: Path, **more: str) -> Settings:
    """Settings of a home whose server takes little memory, with the machine's artifact cache."""
    lean = {"LIBRARIAN_HEAP_MB": "512", "LIBRARIAN_PAGECACHE_MB": "256"}
    return Settings.from_env({**lean, "LIBRARIAN_HOME": str(home), "LIBRARIAN_CACHE": str(_cache()), **more})


@pytest.fixture(scope="session")
def settings(tmp_path_factory: pytest.TempPathFactory, database: dict[str, str], copy_home: CopyHome) -> Settings:
    """Settings of the run: a home of its own, a lean server, the machine's artifact cache."""
    home: Path = tmp_path_factory.mktemp("librarian") / "home"
    if not database:
        copy_home(home)
    return _lean(home, **database)


@pytest.fixture(scope="session")
async def librarian(settings: Settings) -> AsyncIterator[Librarian]:
    """A ready Librarian with the real encoder."""
    if IN_DOCKER:  # like any server of yours, it is not migrated by itself
        async with open_migrator(settings, purpose="tests", linger_s=0) as migrator:
            await migrator.apply()
    async with open_librarian(settings, purpose="tests", linger_s=0) as ready:
        yield ready


@pytest.fixture(scope="session")
async def executor(librarian: Librarian) -> Executor:
    """The executor of the run's graph."""
    return librarian.parts.executor


@pytest.fixture(scope="session")
def serve_app(settings: Settings) -> ServeApp:
    """Serves the real application over a Librarian on a port of its own, with some HTTP settings changed, and the web
    page where it gets sessions; gives the address.
    """

    @contextlib.asynccontextmanager
    async def serve(
        served: Librarian, keys: KeyFile, sessions: Sessions | None = None, **changes: Any
    ) -> AsyncIterator[str]:
        @contextlib.asynccontextmanager
        async def connect() -> AsyncIterator[Librarian]:
            yield served

        http = replace(settings.http, port=0, **changes)
        with listen(http) as listening:
            server = Server(build_app(http, keys, connect, sessions))
            running = asyncio.create_task(server.serve(sockets=[listening]))
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
            server.should_exit = True
            await running

    return serve


@pytest.fixture(scope="session")
def installed() -> Path:
    """The installed console script, for tests of what only a process of its own has: signals, limits, its start."""
    return Path(sys.executable).with_name("librarian")


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with `librarian` and `python` that need not load their libraries anew (command_server.py)."""
    folder = tmp_path_factory.mktemp("programs")
    environment = {**os.environ, "PYTHONUTF8": "1", "ORT_DISABLE_TELEMETRY": "1"}
    with tempfile.TemporaryDirectory() as short:  # the path of a socket has 100 characters at most
        address = str(Path(short) / "socket")
        (folder / "address").write_text(address, encoding="utf-8")
        for name in ("librarian", "python"):
            client = shlex.join([sys.executable, "-IS", str(HERE / "command_client.py"), address, name])
            (folder / name).write_text(f'#!/bin/sh\nexec {client} "$@"\n', encoding="utf-8")
            (folder / name).chmod(0o755)
        command = [sys.executable, HERE / "command_server.py", address]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, start_new_session=True
        ) as server:
            assert server.stdin is not None
            assert server.stdout is not None
            assert server.stdout.readline() == b"listening\n"
            yield folder
            server.stdin.close()


@pytest.fixture(scope="session")
def program(programs: Path) -> Path:
    """The command line, quicker to start than the installed one and otherwise the same."""
    return programs / "librarian"


class Command:
    """A command that runs in a fork of the command server: what tests use of asyncio's processes."""

    def __init__(self, pid: int, answer: asyncio.StreamReader, connection: asyncio.StreamWriter) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._ended = asyncio.create_task(self._end(answer, connection))

    async def _end(self, answer: asyncio.StreamReader, connection: asyncio.StreamWriter) -> None:
        try:
            code = await answer.read()
        except ConnectionResetError:
            code = b""
        self.returncode = int(code or -signal.SIGKILL)
        connection.close()

    def send_signal(self, number: signal.Signals) -> None:
        os.kill(self.pid, number)

    async def wait(self) -> int | None:
        await self._ended
        return self.returncode


@pytest.fixture(scope="session")
def start_command(programs: Path) -> StartCommand:
    """Starts `librarian`, whose output goes to a file, in a fork; it gets signals like a process of its own."""

    async def start(*arguments: str, env: dict[str, str], cwd: Path, output: BinaryIO) -> Command:
        connection = socket.socket(socket.AF_UNIX)
        connection.connect((programs / "address").read_text(encoding="utf-8"))
        asked = {"program": "librarian", "arguments": arguments, "folder": str(cwd), "environment": env}
        line = json.dumps(asked).encode() + b"\n"
        nothing = os.open(os.devnull, os.O_RDONLY)
        sent = socket.send_fds(connection, [line], [nothing, output.fileno(), output.fileno()])
        os.close(nothing)
        connection.sendall(line[sent:])
        answer, writer = await asyncio.open_unix_connection(sock=connection)
        return Command(int(await answer.readline()), answer, writer)

    return start


@pytest.fixture
def environment(settings: Settings) -> dict[str, str]:
    """Of programs that share the run's home and server."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("LIBRARIAN_")}
    return {**inherited, "LIBRARIAN_HOME": str(settings.home), "LIBRARIAN_CACHE": str(settings.cache)}


@pytest.fixture(scope="session")
def eventually() -> Callable[..., Awaitable[None]]:
    """Waits for what must happen. Only its absence fails a test, never its pace."""

    async def wait(condition: Callable[[], Awaitable[bool]]) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not await condition():
            assert time.monotonic() < deadline, "it never happened"
            await asyncio.sleep(0.05)

    return wait


@pytest.fixture
def finished(tmp_path: Path) -> Callable[..., Any]:
    """Runs a program to its end: (exit code, standard output, standard error)."""

    async def run(*command: object, env: dict[str, str], stdin: bytes = b"") -> tuple[int | None, str, str]:
        process = await asyncio.create_subprocess_exec(
            *map(str, command),
            env=env,
            cwd=tmp_path,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await process.communicate(stdin)
        sys.stderr.write(err.decode())  # pytest shows it when the test fails
        return process.returncode, out.decode(), err.decode()

    return run


@pytest.fixture
def namespace() -> str:
    """A namespace that nobody else uses."""
    return f"test-{uuid.uuid4().hex[:12]}"


@pytest.fixture
def ingest(librarian: Librarian, namespace: str) -> Ingest:
    """Stores rows given as dicts, and encodes them unless told otherwise."""

    async def run(*rows: dict[str, Any], into: str = namespace, embed: bool = True, **options: Any) -> IngestReport:
        async def lines() -> AsyncIterator[tuple[int, bytes]]:
            for number, row in enumerate(rows, start=1):
                yield number, msgspec.json.encode(row)

        report = await librarian.ingest(lines(), namespace=into, **options)
        if embed:
            await librarian.embed_pending()
        return report

    return run
