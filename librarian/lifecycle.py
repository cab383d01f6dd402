"""How far a Librarian has come: starting, ready, or unreachable and failed for now, and what stands in the way."""

import asyncio
from dataclasses import dataclass

from graph.capability import ping
from graph.errors import GraphError
from graph.executor import Executor
from graph.local.server import ManagedServer
from graph.local.state import Phase as ServerPhase
from graph.schema import differences
from graph.types import SpaceRecord
from librarian import metrics
from librarian.contracts.service import Phase, Readiness
from librarian.errors import NotReady
from librarian.reranking import Reranking
from retrieval.encoders.base import Encoder
from retrieval.pipeline import SearchPipeline

_READINESS_TIMEOUT_S = 2.0
_RETRY_AFTER_S = 2
_NEVER_RETRY_S = 3600
# Somebody has to do something before requests can be served: nobody is kept waiting for that.
_STUCK: tuple[Phase, ...] = ("unreachable", "failed", "maintenance")


@dataclass(frozen=True, slots=True)
class Parts:
    """What a ready Librarian works with. `encoder` and `space` are None in keyword-only operation."""

    executor: Executor
    pipeline: SearchPipeline
    encoder: Encoder | None
    space: SpaceRecord | None
    reranking: Reranking


@dataclass(frozen=True, slots=True)
class Reading:
    """A loaded encoder, and the languages that it tells apart."""

    encoder: Encoder
    languages: frozenset[str]


class Lifecycle:
    """The parts of one Librarian and how far they have come. Wiring tells it, requests ask it."""

    def __init__(self) -> None:
        self._parts: Parts | None = None
        self._server: ManagedServer | None = None
        self._phase: Phase = "starting"
        self._reason = "the graph is starting"
        self._told = self._reason
        self._retry_after_s = _RETRY_AFTER_S
        self._defect: BaseException | None = None
        self._graphless = False
        self._changed = asyncio.Event()
        self.reading: Reading | None = None

    # What wiring tells.

    def watching(self, server: ManagedServer) -> None:
        """The managed server whose state explains why the graph is not ready."""
        self._server = server

    def waiting(
        self, phase: Phase, reason: str, *, told: str | None = None, retry_after_s: int = _RETRY_AFTER_S
    ) -> None:
        """The graph cannot be used, yet or any more; `reason` is for /readyz, `told` (default: the same) for clients,
        who may try again after `retry_after_s` seconds.
        """
        self._parts, self._told, self._retry_after_s = None, told or reason, retry_after_s
        self._turn(phase, reason)

    def usable(self, parts: Parts) -> None:
        """The graph can be used, by what has to happen before the service is ready."""
        self._parts, self._reason = parts, "the graph is being prepared"

    def connected(self, parts: Parts) -> None:
        """Everything is there."""
        self._parts = parts
        self._turn("ready", "")

    def failed(self, defect: BaseException) -> None:
        """Nobody tries any more to make it ready."""
        self._parts, self._defect = None, defect
        self._turn("failed", str(defect))

    def without_graph(self, reason: str) -> None:
        """It works without a graph, for good: what needs one is refused with `reason`."""
        self._graphless, self._told, self._retry_after_s = True, reason, _NEVER_RETRY_S
        self._turn("ready", reason)

    def read_by(self, encoder: Encoder, languages: frozenset[str]) -> None:
        """The encoder is loaded; it stays so when the graph goes away."""
        self.reading = Reading(encoder, languages)

    def _turn(self, phase: Phase, reason: str) -> None:
        self._phase, self._reason = phase, reason
        metrics.set_ready(ready=phase == "ready")
        before, self._changed = self._changed, asyncio.Event()
        before.set()

    # Readiness.

    async def ready(self, *, patient: bool = True) -> None:
        """Wait until the graph can be used. Who is not `patient` waits while it starts, recovers or is migrated, and
        gets NotReady once it is unreachable or failed. Raises a defect that nobody mends.
        """
        while self._phase != "ready":
            if self._defect is not None:
                raise self._defect
            if not patient and self.phase in _STUCK:
                raise self._not_ready()
            await self._changed.wait()

    async def readiness(self) -> Readiness:
        """Whether requests can be served now, and each check's result; never raises."""
        if self._graphless:
            encoder = "off" if self.reading is None else "ok"
            return Readiness(ready=True, phase=self.phase, checks={"graph": f"off: {self._reason}", "encoder": encoder})
        parts = self._parts  # held: they may be lost while the graph is asked
        if parts is None or self._phase != "ready":
            return Readiness(ready=False, phase=self.phase, checks={"graph": self._reason})
        phase, said = await self._check_graph(parts.executor)
        checks = {"graph": said, "encoder": check_encoder(parts), "reranker": parts.reranking.status}
        return Readiness(ready=phase == "ready", phase=phase, checks=checks)

    @property
    def phase(self) -> Phase:
        """Where it stands."""
        recovering = self._server is not None and self._server.status().phase is ServerPhase.RECOVERING
        return "recovering" if recovering and self._phase == "starting" else self._phase

    @property
    def parts(self) -> Parts:
        """What this Librarian works with. Raises NotReady with the reason, or a defect that nobody mends."""
        if self._defect is not None:
            raise self._defect
        if self._parts is None:
            raise self._not_ready()
        return self._parts

    def _not_ready(self) -> NotReady:
        return NotReady(self._told, phase=self.phase, retry_after_s=self._retry_after_s)

    async def _check_graph(self, executor: Executor) -> tuple[Phase, str]:
        try:
            async with asyncio.timeout(_READINESS_TIMEOUT_S):
                await ping(executor)
                faults = await differences(executor)
        except TimeoutError:
            return self.silence(f"the database did not answer within {_READINESS_TIMEOUT_S:.0f} s")
        except GraphError as error:
            return self.silence(str(error))
        return ("failed", "; ".join(faults)) if faults else ("ready", "ok")

    def silence(self, reason: str) -> tuple[Phase, str]:
        """What it means that the database does not answer: a managed server is brought back by its keeper."""
        return absence(self._server) or ("unreachable" if self._server is None else "recovering", reason)


def absence(server: ManagedServer | None) -> tuple[Phase, str] | None:
    """Why a managed server is not there and will not come back by itself; None where it is, or may."""
    if server is None:
        return None
    status = server.status()
    if status.maintenance:
        return "maintenance", f"{status.maintenance} is under way"
    match status.phase:
        case ServerPhase.STOPPED | ServerPhase.STOPPING:
            return "unreachable", f"the managed server is {status.phase}; `librarian server start` starts it"
        case ServerPhase.FAILED:
            return "failed", f"the managed server failed: {status.error} `librarian server logs` tells more"
    return None


def check_encoder(parts: Parts) -> str:
    """Whether searches use vectors; "ok", or why not."""
    if parts.encoder is None or parts.space is None:
        return "off: searches use keywords only (LIBRARIAN_ENCODER=none)"
    return "ok" if parts.space.active else "its embedding space is not active; run `librarian embeddings switch`"
