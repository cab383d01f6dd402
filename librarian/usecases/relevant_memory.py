"""Relevant memory: the messages, memories and facts that help to answer a question."""

import structlog

from graph.types import ItemFilter, Kind
from librarian import logs, metrics
from librarian.contracts.relevant import MemoryHit, RelevantInput, RelevantOutput
from retrieval.answerness import score_hit_for_query
from retrieval.pipeline import SearchPipeline
from retrieval.types import ScoredItem, SearchRequest, SearchResult

log = structlog.get_logger("librarian.relevant_memory")

# What tells something by itself. Parts of files are found by searches of files.
KINDS = (Kind.MESSAGE, Kind.MEMORY, Kind.FACT)
# Hits looked at for each one wanted: what answers may stand below what only asks.
POOL = 3
_LOGGED_CHARS = 200


async def get_relevant_memory(
    pipeline: SearchPipeline, namespace: str, wanted: RelevantInput, *, log_queries: bool
) -> RelevantOutput:
    """The best hits of `namespace`, one a message."""
    request = SearchRequest([wanted.query], ItemFilter(namespace, KINDS), limit=wanted.max_hits * POOL)
    result = await pipeline.search(request)
    hits = _best(result, wanted)
    _observe(namespace, wanted, result, len(hits), log_queries=log_queries)
    # The pipeline's remarks are about the limit of the pool, which nobody asked for.
    return RelevantOutput(namespace=namespace, query=wanted.query, hits=hits, arms=dict(result.arms), notes=[])


def _best(result: SearchResult, wanted: RelevantInput) -> list[MemoryHit]:
    """The pool's hits in order, without those of a message that stands higher already.

    Hits of equal score, such as those found by words alone, keep the order of the search.
    """
    hits = [_hit(scored) for scored in result.hits]
    if wanted.answer_over_question:
        scores = [score_hit_for_query(hit, wanted.query) for hit in hits]
        ranked = sorted(zip(scores, hits, strict=True), key=lambda scored: -scored[0])
        hits = [_with_score(hit, score) for score, hit in ranked]
    unique: dict[str, MemoryHit] = {}
    for hit in hits:
        unique.setdefault(hit.message_id or hit.uid, hit)
    return list(unique.values())[: wanted.max_hits]


def _hit(scored: ScoredItem) -> MemoryHit:
    properties = scored.item.properties
    return MemoryHit(
        uid=scored.item.uid,
        kind=scored.item.kind.value,
        content=properties["text"],
        score=0.0 if scored.similarity is None else round(scored.similarity, 4),
        message_id=properties.get("message_id"),
        role=properties.get("role"),
        author_name=properties.get("author_name") or properties.get("agent"),
        sent_at=properties.get("occurred_at"),
    )


def _with_score(hit: MemoryHit, score: float) -> MemoryHit:
    return MemoryHit(**{name: getattr(hit, name) for name in hit.__struct_fields__} | {"score": round(score, 4)})


def _observe(namespace: str, wanted: RelevantInput, result: SearchResult, hits: int, *, log_queries: bool) -> None:
    for stage, spent_ms in result.timings_ms.items():
        metrics.observe_stage(stage, spent_ms / 1000)
    metrics.count_search(arms=result.arms, overfetch=result.overfetch, hits=len(result.hits))
    query = wanted.query[:_LOGGED_CHARS] if log_queries else logs.hashed(wanted.query)
    log.info(
        f"[LIBRARIAN] {namespace}: query={query!r} -> {hits} hits "
        f"(requested={wanted.max_hits}, raw_results={len(result.hits)})"
    )
