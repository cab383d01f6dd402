"""Search: the wire's request to the pipeline, its hits back to the wire."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec
import structlog

from graph.executor import deadline
from graph.types import FOREVER, FoundItem, ItemFilter, Kind
from librarian import metrics
from librarian.contracts.evidence import Evidence
from librarian.contracts.fields import Attribute
from librarian.contracts.filters import Filters
from librarian.contracts.search import (
    ArmExplanation,
    Explanation,
    Hit,
    SearchInput,
    SearchOutput,
    SignalExplanation,
)
from librarian.reranking import Reranking
from librarian.rows import as_utc
from retrieval.pipeline import SearchPipeline
from retrieval.rerankers.cascade import RerankOutcome, RerankStatus, candidate_text
from retrieval.types import VECTOR, ScoredItem, SearchRequest, SearchResult

log = structlog.get_logger("librarian.search")

# A query may have a million characters.
_LOGGED_CHARS = 200
# The answer must leave before the deadline itself ends the request.
_MARGIN_S = 0.25
_NO_TIME_S = 0.001
_COPIED = tuple(
    name
    for name in Hit.__struct_fields__
    if name
    not in {"uid", "kind", "score", "similarity_score", "content", "evidence", "explanation", "attributes", "valid_to"}
)


async def search(pipeline: SearchPipeline, reranking: Reranking, namespace: str, query: SearchInput) -> SearchOutput:
    """Hits of `namespace` for `query`, best first."""
    reranks = query.enable_reranking and reranking.on
    request = SearchRequest(
        queries=query.queries,
        where=item_filter(namespace, query.filters),
        limit=query.limit,
        spare=reranking.pool(query.limit) - query.limit if reranks else 0,
        fusion_method=query.fusion_method,
        multi_query_boost=query.multi_query_boost,
    )
    result = await pipeline.search(request)
    outcome = await _reranked(reranking, query, result.hits) if reranks else None
    order = range(len(result.hits)) if outcome is None else outcome.order
    scores = {} if outcome is None else outcome.scores
    hits = [_hit(result.hits[place], scores.get(place), explain=query.explain) for place in order[: query.limit]]
    _observe(namespace, query, result, len(hits))
    return SearchOutput(
        namespace=namespace,
        queries=query.queries,
        results=hits,
        arms=dict(result.arms),
        reranked=outcome is not None and outcome.reranked,
        notes=[*result.notes, *_remarks(outcome)],
        timings_ms=_rounded(result.timings_ms) if query.explain else None,
    )


async def _reranked(reranking: Reranking, query: SearchInput, hits: Sequence[ScoredItem]) -> RerankOutcome:
    texts = [candidate_text(hit.item) for hit in hits]
    asked = query.rerank_query or query.queries[0]
    return await reranking.rerank(
        "search", asked, texts, limit=query.limit, deadline_s=_time_left_s(reranking.timeout_s)
    )


def _time_left_s(most_s: float) -> float:
    """Seconds until the request has to be answered, at most `most_s`."""
    ends_at = deadline.get()
    if ends_at is None:
        return most_s
    left_s = ends_at - asyncio.get_running_loop().time() - _MARGIN_S
    return min(most_s, max(left_s, _NO_TIME_S))


def _remarks(outcome: RerankOutcome | None) -> list[str]:
    """Why a reranker that was asked did not order the hits."""
    if outcome is None or outcome.reranked or outcome.status is RerankStatus.SKIPPED:
        return []
    return [f"not reranked: {outcome.reason}"]


def _observe(namespace: str, query: SearchInput, result: SearchResult, hits: int) -> None:
    """Count and log one search."""
    for stage, spent_ms in result.timings_ms.items():
        metrics.observe_stage(stage, spent_ms / 1000)
    metrics.count_search(arms=result.arms, overfetch=result.overfetch, hits=hits)
    log.info(
        "search",
        namespace=namespace,
        queries=[text[:_LOGGED_CHARS] for text in query.queries],
        hits=hits,
        limit=query.limit,
        arms=dict(result.arms),
        overfetch=result.overfetch,
        ms=_rounded(result.timings_ms),
    )


def _rounded(timings_ms: Mapping[str, float]) -> dict[str, float]:
    return {stage: round(spent, 1) for stage, spent in timings_ms.items()}


def item_filter(namespace: str, filters: Filters | None) -> ItemFilter:
    """The wire's filters as the graph's."""
    if filters is None:
        return ItemFilter(namespace)
    given = {
        name: value
        for name in Filters.__struct_fields__
        if (value := getattr(filters, name)) is not None and name != "kinds"
    }
    for moment in ("occurred_from", "occurred_to", "as_of"):
        if moment in given:
            given[moment] = as_utc(given[moment])
    kinds = tuple(Kind(kind) for kind in filters.kinds) if filters.kinds else tuple(Kind)
    return ItemFilter(namespace, kinds, **given)


def _hit(scored: ScoredItem, rerank_score: float | None, *, explain: bool) -> Hit:
    properties = scored.item.properties
    return Hit(
        uid=scored.item.uid,
        kind=scored.item.kind.value,
        score=round(scored.score, 6),
        similarity_score=None if scored.similarity is None else round(scored.similarity, 4),
        rerank_score=None if rerank_score is None else round(rerank_score, 4),
        content=properties["text"],
        valid_to=open_end(properties.get("valid_to")),
        attributes=attributes_of(properties),
        evidence=evidence_of(scored.item),
        explanation=_explanation(scored) if explain else None,
        **{name: properties[name] for name in _COPIED if name in properties},
    )


def evidence_of(item: FoundItem) -> list[Evidence]:
    """What supports a fact, for the wire."""
    return [
        Evidence(
            uid=source.uid,
            message_id=source.message_id,
            author_name=source.author_name,
            content=source.text,
            sent_at=source.sent_at,
        )
        for source in item.evidence
    ]


def attributes_of(properties: Mapping[str, Any]) -> dict[str, Attribute]:
    """A fact's attributes, which the graph keeps as JSON since a node holds no maps."""
    stored = properties.get("attributes")
    return msgspec.json.decode(stored, type=dict[str, Attribute]) if stored else {}


def open_end(valid_to: datetime | None) -> datetime | None:
    """When a fact ceases to hold; the sentinel for "still holds" becomes None."""
    return None if valid_to is None or valid_to >= FOREVER else valid_to


def _explanation(scored: ScoredItem) -> Explanation:
    arms = [
        ArmExplanation(
            query=share.query,
            arm=share.arm,
            rank=share.rank,
            # BM25 tells about the whole corpus, other namespaces included.
            score=round(share.score, 4) if share.arm == VECTOR else None,
            share=round(share.share, 6),
        )
        for share in scored.shares
    ]
    signals = [
        SignalExplanation(query=one.query, signal=one.signal, value=round(one.value, 4), share=round(one.share, 6))
        for one in scored.signals
    ]
    return Explanation(
        arms=arms,
        signals=signals,
        fused_score=round(scored.score, 6),
        merged_duplicates=list(scored.duplicates),
    )
