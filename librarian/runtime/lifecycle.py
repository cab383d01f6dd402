"""The state of a Librarian: starting, ready, unreachable or failed, and why."""

import asyncio
from dataclasses import dataclass

from graph.errors import GraphError
from graph.executor import Executor
from graph.local.server import ManagedServer
from graph.local.state import Phase as ServerPhase
from graph.schema import differences
from graph.types import SpaceRecord
from librarian.base import metrics
from librarian.base.errors import NotReady
from librarian.runtime.contracts import Phase, Readiness
from librarian.runtime.reranking import Reranking
from retrieval.encoders.base import Encoder
from retrieval.pipeline import SearchPipeline

_READINESS_TIMEOUT_S = 2.0
_RETRY_AFTER_S = 2
_STARTING = "the graph is starting"
_NEVER_RETRY_S = 3600
# An operator has to act before requests can be served, so no caller is kept waiting.
_STUCK: tuple[Phase, ...] = ("unreachable", "failed", "maintenance")


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a ready Librarian. `encoder` and `space` are None in keyword-only operation."""

    executor: Executor
    pipeline: SearchPipeline
    encoder: Encoder | None
    space: SpaceRecord | None
    reranking: Reranking


@dataclass(frozen=True, slots=True)
class LoadedEncoder:
    """A loaded encoder, and the languages it covers."""

    encoder: Encoder
    languages: frozenset[str]


class Lifecycle:
    """Holds the parts and the state of one Librarian."""

    def __init__(self) -> None:
        self._parts: Parts | None = None
        self._server: ManagedServer | None = None
        self._phase: Phase = "starting"
        self._reason = _STARTING
        self._client_reason = self._reason
        self._retry_after_s = _RETRY_AFTER_S
        self._defect: BaseException | None = None
        self._graphless = False
        self._changed = asyncio.Event()
        self.loaded_encoder: LoadedEncoder | None = None

    # Changes of the state.

    def watch(self, server: ManagedServer) -> None:
        """Use the state of a managed server to explain why the graph is not ready."""
        self._server = server

    def unavailable(
        self, phase: Phase, reason: str, *, client_reason: str | None = None, retry_after_s: int = _RETRY_AFTER_S
    ) -> None:
        """Record that the graph is unavailable.

        `reason` is for /readyz, `client_reason` (default: the same) for clients, who may try again after
        `retry_after_s` seconds.
        """
        self._parts, self._client_reason, self._retry_after_s = None, client_reason or reason, retry_after_s
        self._turn(phase, reason)

    def usable(self, parts: Parts) -> None:
        """Open the graph to the work that precedes readiness."""
        self._parts, self._reason = parts, "the graph is being prepared"

    def connected(self, parts: Parts) -> None:
        """Record that everything is ready."""
        self._parts = parts
        self._turn("ready", "")

    def failed(self, defect: BaseException) -> None:
        """Record the defect that ended all attempts to connect."""
        self._parts, self._defect = None, defect
        self._turn("failed", str(defect))

    def without_graph(self, reason: str) -> None:
        """Run without a graph permanently: whatever needs one is refused with `reason`."""
        self._graphless, self._client_reason, self._retry_after_s = True, reason, _NEVER_RETRY_S
        self._turn("ready", reason)

    def encoder_loaded(self, encoder: Encoder, languages: frozenset[str]) -> None:
        """Record the loaded encoder, which outlives the connection to the graph."""
        self.loaded_encoder = LoadedEncoder(encoder, languages)

    def closed(self) -> None:
        """Drop the closed parts; a new connection may follow."""
        self._server, self._defect, self._graphless, self.loaded_encoder = None, None, False, None
        self.unavailable("starting", _STARTING)

    def _turn(self, phase: Phase, reason: str) -> None:
        self._phase, self._reason = phase, reason
        metrics.ready.set(phase == "ready")
        before, self._changed = self._changed, asyncio.Event()
        before.set()

    # Readiness.

    async def ready(self, *, patient: bool = True) -> None:
        """Wait until the graph is available; unless `patient`, only while it starts, recovers or is migrated.

        Unless `patient`, raises NotReady once it is unreachable or failed. Raises a defect that ended all attempts.
        """
        while self._phase != "ready":
            if self._defect is not None:
                raise self._defect
            if not patient and self.phase in _STUCK:
                raise self._not_ready()
            await self._changed.wait()

    async def readiness(self) -> Readiness:
        """Return whether requests can be served now, and each check's result; never raises."""
        if self._graphless:
            encoder = "off" if self.loaded_encoder is None else "ok"
            return Readiness(ready=True, phase=self.phase, checks={"graph": f"off: {self._reason}", "encoder": encoder})
        parts = self._parts  # a reference, as they may be dropped while the graph is queried
        if parts is None or self._phase != "ready":
            return Readiness(ready=False, phase=self.phase, checks={"graph": self._reason})
        phase, graph = await self._check_graph(parts.executor)
        checks = {"graph": graph, "encoder": check_encoder(parts)}
        if parts.reranking.on or parts.reranking.configured:
            checks["reranker"] = parts.reranking.status
        return Readiness(ready=phase == "ready", phase=phase, checks=checks)

    @property
    def phase(self) -> Phase:
        """The phase, taking the state of the managed server into account."""
        recovering = self._server is not None and self._server.status().phase is ServerPhase.RECOVERING
        return "recovering" if recovering and self._phase == "starting" else self._phase

    @property
    def parts(self) -> Parts:
        """The parts of a ready Librarian. Raises NotReady with the reason, or the defect that ended all attempts."""
        if self._defect is not None:
            raise self._defect
        if self._parts is None:
            raise self._not_ready()
        return self._parts

    def absence(self) -> NotReady | None:
        """Return why the graph is unavailable; None if it is available, or if there is permanently none."""
        return None if self._phase == "ready" else self._not_ready()

    def _not_ready(self) -> NotReady:
        return NotReady(self._client_reason, phase=self.phase, retry_after_s=self._retry_after_s)

    async def _check_graph(self, executor: Executor) -> tuple[Phase, str]:
        try:
            async with asyncio.timeout(_READINESS_TIMEOUT_S):
                faults = await differences(executor)
        except TimeoutError:
            return self.silence(f"the database did not answer within {_READINESS_TIMEOUT_S:.0f} s")
        except GraphError as error:
            return self.silence(str(error))
        return ("failed", "; ".join(faults)) if faults else ("ready", "ok")

    def silence(self, reason: str) -> tuple[Phase, str]:
        """Return phase and reason for an unresponsive database; a managed server is restarted by its keeper."""
        return absence(self._server) or ("unreachable" if self._server is None else "recovering", reason)


def absence(server: ManagedServer | None) -> tuple[Phase, str] | None:
    """Return why a managed server stays down; None if it runs or may recover by itself."""
    if server is None:
        return None
    status = server.status()
    if status.maintenance:
        return "maintenance", f"{status.maintenance} is under way"
    match status.phase:
        case ServerPhase.STOPPED | ServerPhase.STOPPING:
            return "unreachable", f"the managed server is {status.phase}; `librarian server start` starts it"
        case ServerPhase.FAILED:
            return "failed", f"the managed server failed: {status.error} see `librarian server logs`"
    return None


def check_encoder(parts: Parts) -> str:
    """Return "ok" if searches use vectors, else why they do not."""
    if parts.encoder is None or parts.space is None:
        return "off: searches use keywords only (LIBRARIAN_ENCODER=none)"
    return "ok" if parts.space.active else "its embedding space is not active; run `librarian embeddings switch`"
