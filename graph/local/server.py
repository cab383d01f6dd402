"""The managed Neo4j server for its users: take a lease, wait until it is ready, release it.

The server itself belongs to a keeper process (graph.local.keeper), so it does not end with any user, orderly or not.
"""

import asyncio
import logging
import os
import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import psutil

from graph.local import leases
from graph.local.artifacts import Progress, ensure_artifacts
from graph.local.conf import sized_memory
from graph.local.dumps import Offline, dump_before_upgrade
from graph.local.errors import LocalServerError, ServerNotRunning, ServerStartFailed, ServerTimeout
from graph.local.filelock import exclusive, is_held
from graph.local.home import Home, open_home, refuse_unwritable
from graph.local.java import find_java
from graph.local.jvm import LOOPBACK, find, is_alive
from graph.local.leases import LeaseInfo
from graph.local.lock import load_group
from graph.local.logtail import tail
from graph.local.machine import memory_mb
from graph.local.maintenance import announced, under_way
from graph.local.spawn import spawn_keeper
from graph.local.state import RUNNING_PHASES, Launch, Phase, ServerState, read_launch, read_state, write_launch

_USERNAME = "neo4j"
_POLL_S = 0.1
_WATCH_S = 1.0
_DECISION_TIMEOUT_S = 150.0
_LONGEST_WATCH_S = 30.0
# A service checks every two seconds.
_NOTICE_S = 2.5

logger = logging.getLogger("librarian.graph")


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """An operator's options; None leaves the choice to us. They apply when a server starts, not to a running one."""

    heap_mb: int | None = None
    pagecache_mb: int | None = None
    java: str | None = None
    maven_url: str | None = None
    bolt_port: int | None = None
    http_port: int | None = None
    read_only: bool = False


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Address and login of a running server. The password never shows in a repr."""

    uri: str
    username: str
    password: str
    http_url: str

    def __repr__(self) -> str:
        return f"Endpoint(uri={self.uri!r}, username={self.username!r}, http_url={self.http_url!r})"


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """State of a home's server, read without touching it."""

    phase: Phase
    pid: int | None
    keeper_pid: int | None
    bolt_port: int | None
    http_port: int | None
    version: str
    java: str
    pinned: bool
    leases: tuple[LeaseInfo, ...]
    error: str
    log_tail: str
    maintenance: str


_NO_OPTIONS = ServerOptions()


class ManagedServer:
    """The server of one home; cheap to create, nothing runs until a lease is taken or the server is pinned."""

    def __init__(self, home: Path, cache: Path, options: ServerOptions = _NO_OPTIONS) -> None:
        self._home = Home(home.expanduser().absolute())
        self._cache = cache
        self._options = options
        self._launch: Launch | None = None

    async def prepare(self, progress: Progress | None = None) -> None:
        """Create or check the home; unless the server already runs, download its files and find a JVM.

        Starts nothing. Raises HomeRefused, JavaNotFound or an ArtifactError.
        """
        group = load_group("server")
        await asyncio.to_thread(open_home, self._home.path, version=group.version)
        if is_held(self._home.keeper_lock):
            return
        options = self._options
        java = await asyncio.to_thread(find_java, os.environ, explicit=options.java)
        jars = await ensure_artifacts(
            self._cache, group.name, maven_url=options.maven_url, progress=progress, verify=True
        )
        memory = sized_memory(memory_mb(), heap_mb=options.heap_mb, pagecache_mb=options.pagecache_mb)
        self._launch = Launch(
            jars=str(jars),
            version=group.version,
            java=str(java.path),
            java_major=java.major,
            has_vector_module=java.has_vector_module,
            heap_mb=memory.heap_mb,
            pagecache_mb=memory.pagecache_mb,
            bolt_port=options.bolt_port,
            http_port=options.http_port,
            read_only=options.read_only,
            java_build=java.build,
        )

    async def lease(self, purpose: str, *, linger_s: float = 0) -> "Lease":
        """Become a user of the server, starting it if needed; does not wait until it is ready.

        The server stays up for `linger_s` seconds after its last lease has ended, if that was this one.
        """
        await self._prepare_once()
        async with exclusive(self._home.start_lock, timeout_s=_DECISION_TIMEOUT_S) as lock:
            descriptor = leases.take(self._home.leases, LeaseInfo(os.getpid(), purpose, linger_s))
            try:
                await self._ensure_keeper(lock)
            except BaseException:
                os.close(descriptor)
                raise
        return Lease(descriptor, asyncio.create_task(self._replace_dead_keepers()))

    async def wait_ready(self, timeout_s: float = 180) -> Endpoint:
        """Return the running server's address once it answers queries.

        Raises ServerStartFailed with the tail of the server's log, ServerNotRunning if it was stopped meanwhile, or
        ServerTimeout.
        """
        deadline = time.monotonic() + timeout_s
        while True:
            state = read_state(self._home.state)
            if state.phase is Phase.READY and find(self._home, state) is not None:
                return self._endpoint(state)
            if state.phase is Phase.FAILED:
                raise ServerStartFailed(state.error, log_tail=state.log_tail)
            if state.phase is Phase.STOPPED:
                raise ServerNotRunning
            if time.monotonic() > deadline:
                raise ServerTimeout(f"Neo4j is still {state.phase} after {timeout_s:.0f} s.")
            await asyncio.sleep(_POLL_S)

    def status(self) -> ServerStatus:
        """Return the state of the server; starts and changes nothing."""
        state = read_state(self._home.state)
        kept = is_held(self._home.keeper_lock)
        ended = state.phase in (Phase.FAILED, Phase.STOPPED)
        running = kept or (not ended and find(self._home, state) is not None)
        return ServerStatus(
            phase=state.phase if running or ended else Phase.STOPPED,
            pid=state.pid if running else None,
            keeper_pid=state.keeper_pid if kept else None,
            bolt_port=state.bolt_port if running else None,
            http_port=state.http_port if running else None,
            version=state.version,
            java=state.java,
            pinned=self._home.pinned.exists(),
            leases=leases.count(self._home.leases),
            error=state.error,
            log_tail=state.log_tail,
            maintenance=under_way(self._home),
        )

    async def pin(self) -> None:
        """Start the server and keep it up without users until `stop`; does not wait until it is ready."""
        await self._prepare_once()
        async with exclusive(self._home.start_lock, timeout_s=_DECISION_TIMEOUT_S) as lock:
            self._home.pinned.touch(mode=0o600)
            await self._ensure_keeper(lock)

    async def stop(self, timeout_s: float = 120) -> bool:
        """Stop the server despite its users, and wait until it is down. Returns False if it was not running.

        Raises HomeRefused for a home that cannot be written.
        """
        if not self._home.path.exists():
            return False
        refuse_unwritable(self._home.path)
        deadline = time.monotonic() + timeout_s
        async with exclusive(self._home.start_lock, timeout_s=timeout_s):
            self._home.pinned.unlink(missing_ok=True)
            keeper = await self._keeper_to_stop()
            if keeper is None:
                return False
            keeper.send_signal(signal.SIGTERM)
        while is_alive(keeper):
            if time.monotonic() > deadline:
                raise ServerTimeout(f"Neo4j is still stopping after {timeout_s:.0f} s.")
            await asyncio.sleep(_POLL_S)
        return True

    @property
    def holds_a_graph(self) -> bool:
        """Whether this home ever held a graph."""
        return (self._home.data / "databases" / "neo4j").is_dir()

    @asynccontextmanager
    async def kept_down(self, what: str) -> AsyncIterator[Offline]:
        """Keep the server down for the block; afterwards it runs again if it ran before.

        `what` announces the work to everybody meanwhile; services get a moment to stop sending requests, and statements
        still running have ten seconds to finish.
        """
        await self._prepare_once()
        launch = self._launch or read_launch(self._home.launch)
        with announced(self._home, what):
            if leases.count(self._home.leases):
                await asyncio.sleep(_NOTICE_S)
            async with exclusive(self._home.start_lock, timeout_s=_DECISION_TIMEOUT_S) as lock:
                ran = await self._bring_down()
                try:
                    yield Offline(self._home, launch, lock)
                finally:
                    if ran:
                        await self._ensure_keeper(lock)

    async def _bring_down(self) -> bool:
        """Stop the server but keep it pinned; return whether it ran. Only while holding start.lock."""
        keeper = await self._keeper_to_stop()
        if keeper is None:
            return False
        keeper.send_signal(signal.SIGTERM)
        deadline = time.monotonic() + _DECISION_TIMEOUT_S
        while is_alive(keeper):
            if time.monotonic() > deadline:
                raise ServerTimeout(f"Neo4j is still stopping after {_DECISION_TIMEOUT_S:.0f} s.")
            await asyncio.sleep(_POLL_S)
        return True

    def logs(self, lines: int) -> str:
        """Return the last lines of the server's output."""
        return tail(self._home.console_log, lines)

    @property
    def password_file(self) -> Path:
        """File with the database password of the user neo4j, readable by the home's owner alone."""
        return self._home.password_file

    def password(self) -> str:
        """Return the database password of the user neo4j. Raises ServerNotRunning before the first start."""
        return self._home.password()

    async def _prepare_once(self) -> None:
        if self._launch is None:
            await self.prepare()

    async def _ensure_keeper(self, lock: int) -> None:
        """Ensure a keeper that is not about to end. Only while holding start.lock, by the descriptor `lock`."""
        deadline = time.monotonic() + _DECISION_TIMEOUT_S
        while is_held(self._home.keeper_lock):
            if read_state(self._home.state).phase in RUNNING_PHASES:
                return
            if time.monotonic() > deadline:
                raise ServerTimeout(f"The previous server is still stopping after {_DECISION_TIMEOUT_S:.0f} s.")
            await asyncio.sleep(_POLL_S)
        if self._launch is not None:  # otherwise the instructions for the previous keeper still hold
            if find(self._home, read_state(self._home.state)) is None:
                await dump_before_upgrade(self._home, self._launch, lock)
            write_launch(self._home.launch, self._launch)
        await spawn_keeper(self._home)

    async def _keeper_to_stop(self) -> psutil.Process | None:
        """Return the keeper; a server that has lost its keeper gets a new one, because only keepers stop servers."""
        if not is_held(self._home.keeper_lock):
            if find(self._home, read_state(self._home.state)) is None:
                return None
            await spawn_keeper(self._home)
        pid = read_state(self._home.state).keeper_pid
        try:
            return None if pid is None else psutil.Process(pid)
        except psutil.NoSuchProcess:  # it has just ended by itself
            return None

    async def _replace_dead_keepers(self) -> None:
        """While a lease is held: start a new keeper, which adopts the running server, if the current one crashed."""
        wait_s = _WATCH_S
        while True:
            await asyncio.sleep(wait_s)
            if not self._keeper_crashed():
                wait_s = _WATCH_S
                continue
            logger.warning("the keeper of %s died, starting another one", self._home.path)
            try:
                async with exclusive(self._home.start_lock, timeout_s=_DECISION_TIMEOUT_S) as lock:
                    await self._ensure_keeper(lock)
            except LocalServerError as error:
                logger.warning("no new keeper: %s", error)
            wait_s = min(wait_s * 2, _LONGEST_WATCH_S)

    def _keeper_crashed(self) -> bool:
        return read_state(self._home.state).phase in RUNNING_PHASES and not is_held(self._home.keeper_lock)

    def _endpoint(self, state: ServerState) -> Endpoint:
        return Endpoint(
            uri=f"bolt://{LOOPBACK}:{state.bolt_port}",
            username=_USERNAME,
            password=self._home.password(),
            http_url=f"http://{LOOPBACK}:{state.http_port}",
        )


class Lease:
    """The right to use the running server; ends with `release`, with the block, or with the process."""

    def __init__(self, descriptor: int, watcher: asyncio.Task[None]) -> None:
        self._descriptor: int | None = descriptor
        self._watcher = watcher

    async def release(self) -> None:
        """Stop being a user of the server. A second call does nothing."""
        if self._descriptor is None:
            return
        descriptor, self._descriptor = self._descriptor, None
        self._watcher.cancel()
        await asyncio.wait([self._watcher])
        os.close(descriptor)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.release()
