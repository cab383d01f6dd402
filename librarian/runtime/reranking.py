"""The service's reranker: probed before it is trusted, monitored in use, counted and logged."""

import asyncio
import hashlib
import math
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Literal

import structlog

from librarian.base import metrics, tracing
from librarian.base.problems import caught, is_known, problem_of
from librarian.base.settings.settings import RerankerSettings
from librarian.base.settings.values import without_userinfo
from retrieval.rerankers.base import Reranker
from retrieval.rerankers.cache import CachedReranker, ScoreCache
from retrieval.rerankers.cascade import MAX_CANDIDATES, RerankOutcome, RerankStatus, rerank_pool, unchanged
from retrieval.rerankers.factory import CROSS_ENCODER, reranker_from_config
from retrieval.rerankers.probe import DEFAULT_RULES, ProbeReport, ProbeRules, examine, pause_s

Variant = Literal["reranked", "control"]

FAULTS_IN_A_ROW = 3
"""Consecutive failed reranks after which no search waits for the reranker until a probe succeeds."""

_FAULTS = (RerankStatus.FAILED, RerankStatus.LATE, RerankStatus.UNCERTAIN)
_HASH_RANGE = 2**32

log = structlog.stdlib.get_logger("librarian.reranking")


class Reranking:
    """Reranks searches while the reranker is trusted: it ranked known pairs correctly and has not failed since.

    `run` probes it, repeatedly while it is off; run it in the background.
    """

    def __init__(self, settings: RerankerSettings, rules: ProbeRules = DEFAULT_RULES) -> None:
        self._settings = settings
        self._rules = rules
        self._cache = ScoreCache()
        self._built: Reranker | None = None
        self._trusted: Reranker | None = None
        self._reason = "it has not been probed yet" if settings.enabled else "RERANKER_ENABLED=0"
        self._faults = self._losses = 0
        self._probed = asyncio.Event()
        self._lost = asyncio.Event()

    @property
    def status(self) -> str:
        """Whether searches are reranked: "ok", or "off: …" with the reason."""
        return f"off: {self._reason}" if self._trusted is None else "ok"

    @property
    def configured(self) -> bool:
        """Whether any of its settings was set; otherwise a missing reranker is not worth reporting."""
        return self._settings != RerankerSettings()

    @property
    def on(self) -> bool:
        """Whether it is currently trusted."""
        return self._trusted is not None

    @property
    def missed(self) -> bool:
        """Whether it was configured and is off, which its operator should know."""
        return self._trusted is None and self._settings.enabled and self.configured

    @property
    def timeout_s(self) -> float:
        """The longest time a search waits for it."""
        return self._settings.config.timeout_s

    def pool(self, limit: int) -> int:
        """Return how many candidates it needs to choose `limit` hits."""
        return min(MAX_CANDIDATES, math.ceil(limit * self._settings.config.oversample))

    async def rerank(
        self, tool: str, query: str, texts: Sequence[str], *, limit: int, deadline_s: float
    ) -> RerankOutcome:
        """Rerank the candidates of one search by `tool` (one of a bounded set of names), whose `texts` come in fused
        order, or keep that order and say why. Never raises RerankerError.
        """
        started = time.perf_counter()
        variant = variant_of(query, self._settings.traffic)
        outcome = await self._outcome(variant, query, texts, limit, deadline_s)
        metrics.rerank_calls.labels(tool, outcome.status, variant).inc()
        if outcome.status not in (RerankStatus.OFF, RerankStatus.SKIPPED):
            self._record(tool, outcome, limit, time.perf_counter() - started)
        return outcome

    async def run(self) -> None:
        """Probe until the reranker is trusted, and again when it no longer is; runs until cancelled."""
        while True:
            self._lost.clear()
            await self._connect()
            await self._lost.wait()
            # Back off from a reranker that passes every probe and fails every search.
            await asyncio.sleep(pause_s(self._losses))

    async def first_probe(self) -> None:
        """Wait until `run` has probed once."""
        await self._probed.wait()

    async def close(self) -> None:
        """Close the reranker."""
        self._trusted = None
        if self._built is not None:
            await self._built.close()

    async def _outcome(
        self, variant: Variant, query: str, texts: Sequence[str], limit: int, deadline_s: float
    ) -> RerankOutcome:
        if self._trusted is None:
            return unchanged(len(texts), RerankStatus.OFF, f"the reranker is off: {self._reason}")
        if variant == "control":
            return unchanged(len(texts), RerankStatus.SKIPPED, "this search is in the share that is not reranked")
        oversample = self._settings.config.oversample
        return await rerank_pool(self._trusted, query, texts, limit=limit, oversample=oversample, deadline_s=deadline_s)

    def _record(self, tool: str, outcome: RerankOutcome, limit: int, seconds: float) -> None:
        metrics.rerank_candidates.observe(outcome.pool)
        metrics.rerank_seconds.observe(seconds)
        for fault in outcome.faults:
            metrics.rerank_errors.labels(fault).inc()
        log.info(
            "Re-ranking completed",
            tool=tool,
            status=str(outcome.status),
            reason=outcome.reason,
            candidates=outcome.pool,
            scored=len(outcome.scores),
            limit=limit,
            top_score=round(max(outcome.scores.values()), 4) if outcome.scores else None,
            ms=round(seconds * 1000, 1),
        )
        if outcome.status not in _FAULTS:
            self._faults = self._losses = 0
            return
        metrics.rerank_errors.labels(outcome.error_code or str(outcome.status)).inc()
        self._faults += 1
        if self._faults >= FAULTS_IN_A_ROW and self._trusted is not None:
            self._losses += 1
            self._turn_off(outcome.reason or str(outcome.status))
            log.warning("Reranker not available", reason=self._reason, **self._named())
            self._lost.set()

    async def _connect(self) -> None:
        """Probe until it is trusted, with growing pauses; each new reason is logged once."""
        logged, attempt = "", 0
        while (error := await caught(self._probe())) is not None:
            attempt += 1
            pause = pause_s(attempt, error)
            self._turn_off(str(error) if is_known(error) else problem_of(error).detail)
            if self._reason != logged:
                logged = self._reason
                self._report_absence(error, pause)
            self._probed.set()
            await asyncio.sleep(pause)
        self._probed.set()

    async def _probe(self) -> None:
        if self._built is None:
            self._built = await reranker_from_config(self._settings.config, tracing.outgoing)
        # Bypasses the cache: a probe needs a fresh answer.
        report = await examine(self._built, self._rules)
        self._trusted, self._faults = CachedReranker(self._built, self._cache), 0
        self._report_connection(report)

    def _turn_off(self, reason: str) -> None:
        self._trusted, self._reason = None, reason

    def _report_connection(self, report: ProbeReport) -> None:
        log.info(
            "Reranker connected",
            relevant=round(report.relevant, 4),
            irrelevant=round(report.irrelevant, 4),
            ms=round(report.seconds * 1000, 1),
            **self._named(),
        )

    def _report_absence(self, error: Exception, pause: float) -> None:
        """Log why it is off: as a warning only if it was configured."""
        defect = None if is_known(error) else error
        level = log.warning if self.configured or defect else log.debug
        level(
            "Reranker not available", reason=self._reason, retry_in_s=round(pause, 1), exc_info=defect, **self._named()
        )

    def _named(self) -> dict[str, str]:
        config = self._settings.config
        if config.model.startswith(CROSS_ENCODER):
            return {"model": config.model}
        return {"model": config.model, "base_url": without_userinfo(config.base_url)}


@asynccontextmanager
async def open_reranking(
    settings: RerankerSettings, *, patience_s: float = 0.0, rules: ProbeRules = DEFAULT_RULES
) -> AsyncIterator[Reranking]:
    """Open a Reranking and run its background work until the block ends.

    Waits at most `patience_s` seconds for the first probe; until that is done, searches are not reranked.
    """
    reranking = Reranking(settings, rules)
    if not settings.enabled:
        yield reranking
        return
    background = asyncio.create_task(reranking.run())
    try:
        with suppress(TimeoutError):
            async with asyncio.timeout(patience_s):
                await reranking.first_probe()
        yield reranking
    finally:
        background.cancel()
        await asyncio.wait([background])
        await reranking.close()


def variant_of(query: str, share: float) -> Variant:
    """Return the variant of a search; the same query always gets the same one."""
    digest = hashlib.sha256(query.encode("utf-8", "surrogatepass")).digest()
    return "reranked" if int.from_bytes(digest[:4], "big") < share * _HASH_RANGE else "control"
