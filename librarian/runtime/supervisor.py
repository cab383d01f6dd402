"""Keeps one service connected: builds its parts, however long that takes, and rebuilds them after a loss."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from typing import Any

import structlog

from graph.driver import reach
from graph.errors import DatabaseAuthFailed, DatabaseCannotWrite, DatabaseUnavailable, GraphError
from graph.local.errors import LocalServerError, ServerNotRunning
from graph.local.state import Phase as ServerPhase
from graph.spaces import count_pending, count_vectors, list_spaces
from librarian.base import metrics
from librarian.base.problems import caught, is_known, is_retryable, problem_of
from librarian.runtime.assembly import Assembly
from librarian.runtime.contracts import Phase
from librarian.runtime.lifecycle import Parts, absence
from migrations.errors import MigrationError
from retrieval.calibration import needs_calibration
from retrieval.encoders.errors import EncoderError

Work = Callable[[], Coroutine[Any, Any, None]]
"""Background work that ends only when it is cancelled, or by a defect."""

log = structlog.stdlib.get_logger("librarian.supervisor")

_RETRY_S = 2
"""After a fault that is often transient."""
_STUCK_RETRY_S = 10
"""After a fault that an operator has to repair: a password, a migration, a missing Java."""
_LOOK_S = 2.0
_LOOK_TIMEOUT_S = 5.0
_SILENT_LOOKS = 2
"""Failed checks until requests are refused at once; before that, the driver retries those in flight."""


class Supervisor:
    """Runs the background work of a service: connect, do `work` while connected, detect a loss, reconnect.

    `before_ready` runs once, before the first request is served; `schedule` runs all the time, connected or not.
    """

    def __init__(
        self, assembly: Assembly, *, work: Work, schedule: Work, before_ready: Callable[[], Awaitable[None]] | None
    ) -> None:
        self._assembly = assembly
        self._lifecycle = assembly.lifecycle
        self._work = work
        self._schedule = schedule
        self._before_ready = before_ready

    async def run(self) -> None:
        """Run until cancelled."""
        async with beside(self._schedule()):
            while True:
                await self._connect()
                async with beside(self._work()) as worker:
                    if (defect := await caught(self._until_lost(worker))) is not None:
                        log.error("the background work failed and starts anew", exc_info=defect)
                        await asyncio.sleep(_STUCK_RETRY_S)

    async def _connect(self) -> None:
        """Try until the graph is available, reporting the obstacle meanwhile."""
        reported = ""
        while (error := await caught(self._build())) is not None:
            phase, reason, wait_s = self._explained(error)
            self._lifecycle.unavailable(phase, reason, client_reason=problem_of(error).detail, retry_after_s=wait_s)
            if reason != reported:
                log.warning("not ready", phase=phase, reason=reason, exc_info=None if is_known(error) else error)
                reported = reason
            await asyncio.sleep(wait_s)
        log.info("ready")

    async def _build(self) -> None:
        server = self._assembly.server
        if server is not None and (what := server.status().maintenance):
            raise ServerNotRunning(f"{what} is under way")
        if server is not None and (phase := server.status().phase) in (ServerPhase.STARTING, ServerPhase.RECOVERING):
            self._lifecycle.unavailable("recovering", f"the managed server is {phase}")
        parts = await self._assembly.build()
        if self._before_ready is not None:
            self._lifecycle.usable(parts)
            await self._before_ready()
            self._before_ready = None
        self._lifecycle.connected(parts)

    def _explained(self, error: Exception) -> tuple[Phase, str, int]:
        """Return phase and reason after a failed attempt, and the seconds until the next one."""
        if gone := absence(self._assembly.server):
            return *gone, _RETRY_S
        if not is_retryable(error):
            return "failed", str(error) if is_known(error) else problem_of(error).detail, _STUCK_RETRY_S
        return "migrating" if isinstance(error, MigrationError) else "unreachable", str(error), _RETRY_S

    async def _until_lost(self, worker: asyncio.Task[None]) -> None:
        """Check the database from time to time; return when it has to be reconnected. Raises a defect that ended the
        worker.
        """
        silent = 0
        while not worker.done():
            await asyncio.sleep(_LOOK_S)
            silent = silent + 1 if await self._is_silent() else 0
            if gone := absence(self._assembly.server):
                return self._give_up(*gone)
            if silent >= _SILENT_LOOKS:
                return self._lose(*self._lifecycle.silence("the database does not answer"))
            if await self._has_moved():
                log.info("the managed server has moved")
                return None
            try:
                async with asyncio.timeout(_LOOK_TIMEOUT_S):
                    await self._refresh(self._lifecycle.parts)
            except DatabaseCannotWrite as error:  # it still answers, but refuses even reads
                return self._lose("failed", str(error))
            except (GraphError, EncoderError, TimeoutError):
                pass
        return worker.result()

    async def _has_moved(self) -> bool:
        try:
            return await self._assembly.has_moved()
        except LocalServerError:  # it went away during the check
            return False

    def _lose(self, phase: Phase, reason: str) -> None:
        self._lifecycle.unavailable(phase, reason)
        log.warning("not ready", phase=phase, reason=reason)

    def _give_up(self, phase: Phase, reason: str) -> None:
        """Give up a database that only an operator can restart; nothing in flight waits for it."""
        self._lose(phase, reason)
        if self._assembly.executor is not None:
            self._assembly.executor.give_up()

    async def _is_silent(self) -> bool:
        """Return whether the database does not answer or refuses the login; a busy server still answers."""
        try:
            async with asyncio.timeout(_LOOK_TIMEOUT_S):
                await reach(self._lifecycle.parts.executor.driver)
        except (DatabaseUnavailable, DatabaseAuthFailed):
            return True
        except (GraphError, TimeoutError):
            pass
        return False

    async def _refresh(self, parts: Parts) -> None:
        """Adopt changes by other processes: items to encode, the active embedding space, and its calibration, which is
        remeasured when the graph has changed a lot.
        """
        metrics.pending_embeddings.set(await count_pending(parts.executor))
        if parts.space is None:
            return
        spaces = await list_spaces(parts.executor)
        vectors = await count_vectors(parts.executor, parts.space.space)
        same = parts.space in spaces
        if same and not needs_calibration(parts.space.calibrations, parts.space.languages or (), vectors):
            return
        self._lifecycle.connected(await self._assembly.parts(parts.executor))
        active = sorted(space.space for space in spaces if space.active)
        log.info("embedding spaces have changed", active=active, vectors=vectors)


@contextlib.asynccontextmanager
async def beside(work: Coroutine[Any, Any, None]) -> AsyncIterator[asyncio.Task[None]]:
    """Run `work` as a task during the block."""
    task = asyncio.create_task(work)
    try:
        yield task
    finally:
        await cancel(task)


async def cancel(task: asyncio.Task[None]) -> None:
    """Cancel a task and wait until it has ended."""
    task.cancel()
    await asyncio.wait([task])
