"""How far a Librarian has come: starting, usable, ready, or failed, and what stands in the way."""

import asyncio
from dataclasses import dataclass

from graph.capability import ping
from graph.errors import GraphError
from graph.executor import Executor
from graph.local.server import ManagedServer
from graph.local.state import Phase as ServerPhase
from graph.schema import differences
from graph.types import SpaceRecord
from librarian.contracts.service import Phase, Readiness
from librarian.errors import NotReady
from retrieval.encoders.base import Encoder
from retrieval.pipeline import SearchPipeline

_READINESS_TIMEOUT_S = 2.0


@dataclass(frozen=True, slots=True)
class Parts:
    """What a ready Librarian works with. `encoder` and `space` are None in keyword-only operation."""

    executor: Executor
    pipeline: SearchPipeline
    encoder: Encoder | None
    space: SpaceRecord | None


class Lifecycle:
    """The parts of one Librarian and how far they have come. Wiring tells it, requests ask it."""

    def __init__(self) -> None:
        self._parts: Parts | None = None
        self._server: ManagedServer | None = None
        self._phase: Phase = "starting"
        self._reason = "the graph is starting"
        self._failure: BaseException | None = None
        self._settled = asyncio.Event()

    # What wiring tells.

    def watching(self, server: ManagedServer) -> None:
        """The managed server whose state explains why the graph is not ready."""
        self._server = server

    def waiting(self, phase: Phase, reason: str) -> None:
        """What is going on before the graph can be used."""
        self._phase, self._reason = phase, reason

    def usable(self, parts: Parts) -> None:
        """The graph can be used, by what has to happen before the service is ready."""
        self._parts, self._reason = parts, "the graph is being prepared"

    def connected(self, parts: Parts) -> None:
        """Everything is there."""
        self._parts, self._phase = parts, "ready"
        self._settled.set()

    def failed(self, error: BaseException) -> None:
        """It will not become ready by waiting."""
        self._failure, self._phase, self._reason = error, "failed", str(error)
        self._settled.set()

    # Readiness.

    async def ready(self) -> None:
        """Wait until the graph can be used. Raises the reason when it never will."""
        await self._settled.wait()
        if self._failure is not None:
            raise self._failure

    async def readiness(self) -> Readiness:
        """Whether requests can be served now, and each check's result; never raises."""
        if self._parts is None or self._phase != "ready":
            return Readiness(ready=False, phase=self._current_phase(), checks={"graph": self._reason})
        checks = {"graph": await self._check_graph(self._parts.executor), "encoder": self._check_encoder()}
        if checks["graph"] == "ok":
            return Readiness(ready=True, phase="ready", checks=checks)
        recovering = self._server is not None and self._server.status().phase is not ServerPhase.FAILED
        return Readiness(ready=False, phase="recovering" if recovering else "unreachable", checks=checks)

    def _current_phase(self) -> Phase:
        recovering = self._server is not None and self._server.status().phase is ServerPhase.RECOVERING
        return "recovering" if recovering and self._phase == "starting" else self._phase

    async def _check_graph(self, executor: Executor) -> str:
        try:
            async with asyncio.timeout(_READINESS_TIMEOUT_S):
                await ping(executor)
                faults = await differences(executor)
        except TimeoutError:
            return f"the database did not answer within {_READINESS_TIMEOUT_S:.0f} s"
        except GraphError as error:
            return str(error)
        return "; ".join(faults) or "ok"

    def _check_encoder(self) -> str:
        parts = self.parts
        if parts.encoder is None or parts.space is None:
            return "off: searches use keywords only (LIBRARIAN_ENCODER=none)"
        return "ok" if parts.space.active else "its embedding space is not active; run `librarian embeddings switch`"

    @property
    def parts(self) -> Parts:
        """What this Librarian works with. Raises NotReady, or the reason why it never will be."""
        if self._failure is not None:
            raise self._failure
        if self._parts is None:
            raise NotReady(self._reason, phase=self._current_phase())
        return self._parts
