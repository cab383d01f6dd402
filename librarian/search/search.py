"""Search: from the wire's request to the pipeline, and from its hits to the wire."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import structlog
from msgspec import UNSET

from graph.executor import deadline
from graph.types import Kind
from librarian.base import metrics, tracing
from librarian.base.settings.settings import SearchSettings
from librarian.items.filters import item_filter
from librarian.items.rows import as_utc
from librarian.runtime.reranking import Reranking
from librarian.search.bounds import Source, bound_of
from librarian.search.contracts import SearchInput, SearchOutput, SemanticSearchInput, ThresholdExplanation
from librarian.search.results import hit
from retrieval.pipeline import SearchPipeline
from retrieval.rerankers.cascade import RerankOutcome, RerankStatus, candidate_text
from retrieval.text import normalise
from retrieval.types import BOTH_ARMS, GRAPH, ScoredItem, SearchRequest, SearchResult

log = structlog.get_logger("librarian.search")

Tool = Literal[
    "search",
    "semantic_search_facts",
    "semantic_search_messages",
    "semantic_search_memories",
    "search_all",
    "relevant_memory",
]
"""The caller, as named in metrics and logs."""

# A query may be a million characters long.
LOGGED_CHARS = 200
# The answer must be sent before the deadline ends the request.
_MARGIN_S = 0.25
_NO_TIME_S = 0.001


@dataclass(frozen=True, slots=True)
class SearchPlan:
    """A search with settings filled in for omitted fields; `source` is the source of its bound.

    `rerank_query` is None for the fused order; `notes` are for the caller.
    """

    tool: Tool
    request: SearchRequest
    rerank_query: str | None
    source: Source
    notes: Sequence[str]


@dataclass(frozen=True, slots=True)
class RankedHits:
    """The hits of a search in final order, each with the reranker's score if any."""

    hits: Sequence[tuple[ScoredItem, float | None]]
    result: SearchResult
    reranked: bool
    notes: Sequence[str]


async def search(
    pipeline: SearchPipeline,
    reranking: Reranking,
    namespace: str,
    query: SearchInput,
    settings: SearchSettings,
) -> SearchOutput:
    """Return the hits of `namespace` for `query`, best first. Raises InvalidInput."""
    plan = plan_search("search", namespace, query, settings, limit=query.limit)
    found = await run(pipeline, reranking, plan)
    results = [hit(scored, score, explain=query.explain) for scored, score in found.hits]
    return SearchOutput(namespace=namespace, results=results, **common_fields(plan, found, explain=query.explain))


def common_fields(plan: SearchPlan, found: RankedHits, *, explain: bool) -> dict[str, Any]:
    """Return the fields common to the answers of all searches, without hits."""
    threshold = found.result.threshold
    return {
        "queries": list(plan.request.queries),
        "threshold": threshold.value if threshold else None,
        "iterations": threshold.iterations if threshold else 0,
        "arms": dict(found.result.arms),
        "reranked": found.reranked,
        "notes": list(found.notes),
        "threshold_explanation": _threshold_explanation(plan, found) if explain else None,
        "timings_ms": _rounded(found.result.timings_ms) if explain else None,
    }


def plan_search(
    tool: Tool,
    namespace: str,
    query: SearchInput | SemanticSearchInput,
    settings: SearchSettings,
    *,
    limit: int,
    kinds: Sequence[Kind] = tuple(Kind),
) -> SearchPlan:
    """Return the search for `query`. Raises InvalidInput if its bounds contradict each other."""
    bounded = bound_of(query, settings)
    queries = _distinct(query.queries)
    notes = list(bounded.notes)
    if len(queries) < len(query.queries):
        notes.append(f"{len(query.queries) - len(queries)} of the queries repeat another and count once")
    request = SearchRequest(
        queries=queries,
        where=item_filter(namespace, query.filters, kinds),
        limit=limit,
        fusion_method=settings.fusion_method if query.fusion_method is UNSET else query.fusion_method,
        multi_query_boost=settings.multi_query_boost if query.multi_query_boost is UNSET else query.multi_query_boost,
        arms=BOTH_ARMS | {GRAPH} if settings.graph_arm else BOTH_ARMS,
        bound=bounded.bound,
        now=None if query.now is None else as_utc(query.now),
        explain=query.explain,
    )
    rerank_query = (query.rerank_query or query.queries[0]) if query.enable_reranking else None
    return SearchPlan(tool, request, rerank_query, bounded.source, notes)


def _distinct(queries: Sequence[str]) -> list[str]:
    """Return the queries without repetitions: agreement with oneself is no evidence."""
    first: dict[str, str] = {}
    for text in queries:
        first.setdefault(normalise(text), text)
    return list(first.values())


async def run(pipeline: SearchPipeline, reranking: Reranking, plan: SearchPlan) -> RankedHits:
    """Search, rerank the best if requested and possible, count and log."""
    request, limit = plan.request, plan.request.limit
    wanted = plan.rerank_query is not None
    spare = reranking.pool(limit) - limit if wanted and reranking.on else 0
    with tracing.span(f"search {plan.tool}"):
        result = await pipeline.search(replace(request, spare=spare))
    outcome = await _reranked(reranking, plan, result.hits) if wanted else None
    order = range(len(result.hits)) if outcome is None else outcome.order
    scores = {} if outcome is None else outcome.scores
    hits = [(result.hits[index], scores.get(index)) for index in order[:limit]]
    _observe(plan, result, len(hits))
    return RankedHits(
        hits,
        result,
        reranked=outcome is not None and outcome.reranked,
        notes=[*plan.notes, *result.notes, *_remarks(outcome, reranking)],
    )


def _threshold_explanation(plan: SearchPlan, found: RankedHits) -> ThresholdExplanation | None:
    """Return the source of a search's threshold, and its effect."""
    threshold = found.result.threshold
    if threshold is None:
        return None
    exempt = sum(scored.exempt is not None for scored, _ in found.hits)
    return ThresholdExplanation(
        source=plan.source,
        outcome=threshold.outcome,
        floor=threshold.floor,
        dropped=len(found.result.below),
        exempt=exempt,
    )


async def _reranked(reranking: Reranking, plan: SearchPlan, hits: Sequence[ScoredItem]) -> RerankOutcome:
    texts = [candidate_text(scored.item) for scored in hits]
    with tracing.span("rerank"):
        return await reranking.rerank(
            plan.tool,
            plan.rerank_query or plan.request.queries[0],
            texts,
            limit=plan.request.limit,
            deadline_s=_time_left_s(reranking.timeout_s),
        )


def _time_left_s(most_s: float) -> float:
    """Return the seconds until the request must be answered, at most `most_s`."""
    ends_at = deadline.get()
    if ends_at is None:
        return most_s
    left_s = ends_at - asyncio.get_running_loop().time() - _MARGIN_S
    return min(most_s, max(left_s, _NO_TIME_S))


def _remarks(outcome: RerankOutcome | None, reranking: Reranking) -> list[str]:
    """Return why a reranker did not order all hits; nothing if none is configured."""
    if outcome is None or outcome.status is RerankStatus.SKIPPED:
        return []
    if outcome.faults and outcome.reranked:
        return [f"reranked in part: {outcome.reason}"]
    if outcome.reranked or (outcome.status is RerankStatus.OFF and not reranking.missed):
        return []
    return [f"not reranked: {outcome.reason}"]


def _observe(plan: SearchPlan, result: SearchResult, hits: int) -> None:
    """Count and log one search."""
    for stage, spent_ms in result.timings_ms.items():
        metrics.stage_seconds.labels(stage).observe(spent_ms / 1000)
    for arm, status in result.arms.items():
        metrics.search_arms.labels(arm, status.partition(":")[0]).inc()
    if result.overfetch is not None:
        metrics.search_overfetch.labels(result.overfetch).inc()
    metrics.search_hits.observe(hits)
    _observe_threshold(plan, result, hits)
    log.info(
        "search",
        tool=plan.tool,
        namespace=plan.request.where.namespace,
        queries=[text[:LOGGED_CHARS] for text in plan.request.queries],
        hits=hits,
        limit=plan.request.limit,
        arms=dict(result.arms),
        overfetch=result.overfetch,
        ms=_rounded(result.timings_ms),
    )


def _observe_threshold(plan: SearchPlan, result: SearchResult, hits: int) -> None:
    threshold = result.threshold
    if threshold is None or threshold.outcome == "fixed":
        return
    metrics.threshold_iterations.observe(threshold.iterations)
    metrics.final_threshold.observe(threshold.value)
    metrics.threshold_results.observe(hits)
    log.info(
        f"Adaptive threshold {threshold.outcome}",
        tool=plan.tool,
        threshold=threshold.value,
        iterations=threshold.iterations,
        results=hits,
        dropped=len(result.below),
        limit=plan.request.limit,
    )


def _rounded(timings_ms: Mapping[str, float]) -> dict[str, float]:
    """Round to tenths of a millisecond."""
    return {stage: round(spent, 1) for stage, spent in timings_ms.items()}
