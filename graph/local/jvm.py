"""The server process: starting, finding and stopping it."""

import asyncio
import contextlib
import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import psutil

from graph.local.class_archive import ClassArchive
from graph.local.conf import MAIN_CLASS, Memory, Ports, jvm_flags, render_conf
from graph.local.errors import ServerStartFailed
from graph.local.home import Home
from graph.local.java import Java
from graph.local.logtail import tail
from graph.local.state import Launch, ServerState

LOOPBACK = "127.0.0.1"
USUAL_PORTS = Ports(bolt=17687, http=17474)

_ADMIN_CLASS = "org.neo4j.cli.AdminTool"
_ADMIN_TIMEOUT_S = 60.0
_ADMIN_HEAP_MB = 512
_ADMIN_LINES = 20
_POLL_S = 0.1
_CONNECT_TIMEOUT_S = 5.0
# Start times come from the kernel's clock ticks and may differ in the last digits between two readings.
_SAME_START_S = 1.0
# In the words of the Bolt server and of the HTTP server.
_PORT_TAKEN = re.compile(r"Address (?:\S+ is )?already in use")
_START_LOG_LINES = 200
_KEPT_VARIABLES = ("HOME", "LD_LIBRARY_PATH", "PATH", "TMPDIR", "USER")

EXIT_REASONS = {
    1: "it could not start (a port that is taken, for example)",
    2: "its store could not be opened (another process may hold it)",
    3: "its configuration was refused (heap and page cache larger than the memory, for example)",
    4: "its licence was not accepted",
}
"""Meanings of Neo4j's exit codes (its NeoBootstrapper)."""


class Jvm:
    """A running server process, started by this keeper or adopted from one that died."""

    def __init__(
        self,
        process: psutil.Process,
        child: subprocess.Popen[bytes] | None = None,
        archive: ClassArchive | None = None,
    ) -> None:
        self._process = process
        self._child = child
        self._archive = archive

    @property
    def pid(self) -> int:
        """Process id."""
        return int(self._process.pid)

    @property
    def started(self) -> float:
        """Start time, seconds since the epoch."""
        return float(self._process.create_time())

    @property
    def exit_code(self) -> int | None:
        """The exit code of our child process once it has ended."""
        return None if self._child is None else self._child.returncode

    def is_alive(self) -> bool:
        """Return whether it still runs; a zombie does not."""
        if self._child is not None:
            return self._child.poll() is None
        return is_alive(self._process)

    def listens_on(self, port: int) -> bool:
        """Return whether this process listens on `port`. If another server does, its users must not be tried."""
        if not _accepts_connections(port):  # far cheaper than to list its sockets
            return False
        try:
            sockets = self._process.net_connections("tcp")
        except psutil.NoSuchProcess:
            return False
        return any(found.status == psutil.CONN_LISTEN and found.laddr.port == port for found in sockets)

    def stop(self, timeout_s: float) -> bool:
        """Ask it to stop, wait `timeout_s` for its last checkpoint, then kill it. Returns whether it ended itself."""
        self._send(signal.SIGTERM)
        deadline = time.monotonic() + timeout_s
        while self.is_alive():
            if time.monotonic() > deadline:
                self._send(signal.SIGKILL)
                return False
            time.sleep(_POLL_S)
        if self._archive is not None:
            self._archive.keep()
        return True

    def _send(self, number: signal.Signals) -> None:
        with contextlib.suppress(psutil.NoSuchProcess):
            self._process.send_signal(number)


def is_alive(process: psutil.Process) -> bool:
    """Return whether the process still runs: the same one (psutil compares start times), and not a zombie."""
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def start(home: Home, launch: Launch, ports: Ports) -> Jvm:
    """Write neo4j.conf and start the server; its output goes to the console log, the previous one is kept aside."""
    memory = Memory(launch.heap_mb, launch.pagecache_mb)
    (home.conf / "neo4j.conf").write_text(render_conf(ports, memory, read_only=launch.read_only), encoding="utf-8")
    java = Java(Path(launch.java), launch.java_major, launch.has_vector_module)
    archive = ClassArchive(Path(launch.jars), launch.java_build, home.path)
    archive.part.unlink(missing_ok=True)  # left by a killed process
    # Making one delays the start, which should not happen at a home's first.
    flags = (*jvm_flags(java, memory), *archive.flags(make=home.has_store))
    arguments = [f"--home-dir={home.path}", f"--config-dir={home.conf}", "--console-mode"]
    command = [launch.java, *flags, "-cp", _class_path(launch), MAIN_CLASS, *arguments]
    if home.console_log.exists():
        home.console_log.replace(home.console_log.with_suffix(".previous.log"))
    with home.console_log.open("wb") as log:
        child = subprocess.Popen(
            command,
            cwd=home.path,
            env=clean_environment(),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    return Jvm(psutil.Process(child.pid), child, archive)


def find(home: Home, state: ServerState) -> Jvm | None:
    """Return the server that a dead keeper of this home left running, found by process id and start time, else by
    command line.
    """
    recorded = None if state.pid is None else _process(state.pid)
    if recorded is not None and is_alive(recorded) and _started_at(recorded, state.pid_started):
        return Jvm(recorded)
    for process in psutil.process_iter():
        if _serves(process, home):
            return Jvm(process)
    return None


def set_first_password(home: Home, launch: Launch, password: str) -> None:
    """Set the initial password of a store that does not exist yet. Raises ServerStartFailed.

    Other users of the machine can read a command line, so `password` must be changed right after.
    """
    (home.conf / "neo4j.conf").write_text(
        render_conf(USUAL_PORTS, Memory(launch.heap_mb, launch.pagecache_mb)), encoding="utf-8"
    )
    command = [launch.java, "-Xmx256m", "-cp", _class_path(launch), _ADMIN_CLASS]
    environment = clean_environment() | {"NEO4J_HOME": str(home.path), "NEO4J_CONF": str(home.conf)}
    done = subprocess.run(
        [*command, "dbms", "set-initial-password", password],
        cwd=home.path,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=_ADMIN_TIMEOUT_S,
        check=False,
    )
    if done.returncode != 0:
        output = (done.stdout + done.stderr).decode(errors="replace").replace(password, "***")
        raise ServerStartFailed("The first password could not be set.", log_tail=output.strip())


async def run_admin(home: Path, conf: Path, launch: Launch, arguments: Sequence[str], lock: int) -> tuple[int, str]:
    """Run Neo4j's own tool on a home whose server is down; return its exit code and output.

    It inherits the descriptor `lock`, so the lock survives if this process is killed; on cancellation it is terminated.
    """
    (conf / "neo4j.conf").write_text(
        render_conf(USUAL_PORTS, Memory(launch.heap_mb, launch.pagecache_mb)), encoding="utf-8"
    )
    tool = await asyncio.create_subprocess_exec(
        launch.java,
        f"-Xmx{_ADMIN_HEAP_MB}m",
        "-cp",
        _class_path(launch),
        _ADMIN_CLASS,
        *arguments,
        cwd=home,
        env=clean_environment() | {"NEO4J_HOME": str(home), "NEO4J_CONF": str(conf)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        pass_fds=(lock,),
    )
    try:
        output, _ = await tool.communicate()
    except asyncio.CancelledError:
        tool.terminate()
        await tool.wait()
        raise
    return tool.returncode or 0, "\n".join(output.decode(errors="replace").strip().splitlines()[-_ADMIN_LINES:])


def choose_ports(launch: Launch) -> Ports:
    """Return the configured ports, which must be free (ServerStartFailed), else the usual ones, else any free ones."""
    return Ports(
        bolt=_choose(launch.bolt_port, USUAL_PORTS.bolt, "bolt"),
        http=_choose(launch.http_port, USUAL_PORTS.http, "http"),
    )


def require_free(port: int, name: str) -> None:
    """Raise ServerStartFailed if another program uses the configured loopback port."""
    if not _is_free(port):
        raise ServerStartFailed(
            f"The configured {name} port {port} is taken by another program. Stop it, or configure another port."
        )


def free_port(usual: int) -> int:
    """Return the loopback port `usual`, or any free one if it is taken."""
    return usual if _is_free(usual) else _any_free()


def lost_a_port(home: Home) -> bool:
    """Return whether the server that just ended reports one of its ports as taken."""
    return _PORT_TAKEN.search(tail(home.console_log, _START_LOG_LINES)) is not None


def clean_environment() -> dict[str, str]:
    """Return the environment variables that a daemon needs, so that it keeps no secret of its starter in memory.

    The locale decides how the JVM reads file names: without UTF-8 a home with a letter such as ü does not open.
    """
    kept = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
    return kept | {"LC_ALL": "C.UTF-8"}


def _class_path(launch: Launch) -> str:
    return f"{launch.jars}/*"


def _process(pid: int) -> psutil.Process | None:
    try:
        return psutil.Process(pid)
    except psutil.NoSuchProcess:
        return None


def _started_at(process: psutil.Process, moment: float | None) -> bool:
    return moment is not None and abs(process.create_time() - moment) < _SAME_START_S


def _serves(process: psutil.Process, home: Home) -> bool:
    try:
        command: Sequence[str] = process.cmdline()
    except psutil.Error:  # gone, a zombie, or someone else's
        return False
    return MAIN_CLASS in command and f"--home-dir={home.path}" in command


def _choose(configured: int | None, usual: int, name: str) -> int:
    if configured is None:
        return free_port(usual)
    require_free(configured, name)
    return configured


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        # As the server does: a port that only waits for its old connections to time out is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def _accepts_connections(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(_CONNECT_TIMEOUT_S)
        return probe.connect_ex((LOOPBACK, port)) == 0


def _any_free() -> int:
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])
