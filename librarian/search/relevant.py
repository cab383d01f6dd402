"""Relevant memory: the messages, memories and facts that help to answer a question."""

from collections.abc import Sequence
from datetime import UTC, datetime

import structlog

from graph.item import Fact, Item, Memory, Message
from graph.types import ItemFilter, Kind
from librarian.base import logs
from librarian.base.settings.settings import SearchSettings
from librarian.items.reading import open_end, unsupported_of
from librarian.items.rows import as_utc
from librarian.runtime.reranking import Reranking
from librarian.search.contracts import MemoryHit, RelevantInput, RelevantOutput
from librarian.search.results import led_by
from librarian.search.search import SearchPlan, run
from retrieval.answering import Verdict
from retrieval.answerness import score_hit_for_query
from retrieval.pipeline import SearchPipeline
from retrieval.types import ScoredItem, SearchRequest

log = structlog.get_logger("librarian.relevant_memory")

# Kinds that are informative by themselves. Searches of files find parts of files.
KINDS = (Kind.MESSAGE, Kind.MEMORY, Kind.FACT)
_LOGGED_CHARS = 200
# Hits beyond the requested number: of several from one message only the best is kept.
_SPARE = 10
# Verdicts of texts that answer nothing, regardless of the reranker's score.
_NO_ANSWER = frozenset({Verdict.COMMANDS, Verdict.KNOWS_NOT, Verdict.REPEATS})


async def get_relevant_memory(
    pipeline: SearchPipeline,
    reranking: Reranking,
    namespace: str,
    wanted: RelevantInput,
    settings: SearchSettings,
    *,
    log_queries: bool,
) -> RelevantOutput:
    """Return the best hits of `namespace`, one per message."""
    now = as_utc(wanted.now) or as_utc(wanted.as_of) or datetime.now(UTC)
    request = SearchRequest(
        [wanted.query],
        ItemFilter(namespace, KINDS, as_of=as_utc(wanted.as_of), known_at=as_utc(wanted.known_at)),
        limit=wanted.max_hits + _SPARE,
        fusion_method=settings.fusion_method,
        now=now,
    )
    found = await run(pipeline, reranking, SearchPlan("relevant_memory", request, wanted.query, "default", []))
    hits = _unique(found.hits, wanted)[: wanted.max_hits]
    query = wanted.query[:_LOGGED_CHARS] if log_queries else logs.hashed(wanted.query)
    log.info(
        f"[LIBRARIAN] {namespace}: query={query!r} -> {len(hits)} hits "
        f"(requested={wanted.max_hits}, raw_results={len(found.hits)})"
    )
    # The pipeline's remarks on its depth refer to its own limit.
    notes = [note for note in found.notes if note not in found.result.notes]
    return RelevantOutput(
        namespace=namespace,
        query=wanted.query,
        now=now,
        hits=hits,
        arms=dict(found.result.arms),
        notes=notes,
        reranked=found.reranked,
    )


def _unique(found: Sequence[tuple[ScoredItem, float | None]], wanted: RelevantInput) -> list[MemoryHit]:
    """Return the hits in order, one per message; those that answer nothing come last, or not at all if not wanted."""
    ordered = sorted(found, key=lambda hit: wanted.answer_over_question and _answers_nothing(hit[0]))
    unique: dict[object, MemoryHit] = {}
    for scored, rerank_score in ordered:
        unique.setdefault(_identity(scored), _hit(scored, rerank_score, wanted))
    return list(unique.values())


def _answers_nothing(scored: ScoredItem) -> bool:
    return scored.judgement is not None and scored.judgement.verdict in _NO_ANSWER


def _identity(scored: ScoredItem) -> object:
    """Identify a message by its conversation and id, anything else by its uid."""
    item = scored.item
    if isinstance(item, Message) and item.message_id is not None:
        return (item.conversation_id, item.message_id)
    return item.uid


def author_of(item: Item) -> str | None:
    """Return the author of a message, or the keeper of a memory."""
    author = item.agent if isinstance(item, Memory) else item.author_name if isinstance(item, Message) else None
    return author or None


def _hit(scored: ScoredItem, rerank_score: float | None, wanted: RelevantInput) -> MemoryHit:
    item, judgement = scored.item, scored.judgement
    message = item if isinstance(item, Message) else None
    hit = MemoryHit(
        uid=item.uid,
        kind=item.kind.value,
        content=item.text,
        score=0.0 if scored.similarity is None else round(scored.similarity, 4),
        message_id=message.message_id if message else None,
        role=message.role if message else None,
        author_name=author_of(item),
        sent_at=item.occurred_at,
        valid_to=open_end(item.valid_to) if isinstance(item, Fact) else None,
        superseded_by=scored.replaced_by or (judgement.outdated_by if judgement else None),
        verdict=judgement.verdict.value if judgement else None,
        support=round(judgement.support, 4) if judgement else None,
        relevance=round(scored.score, 4),
        rerank_score=None if rerank_score is None else round(rerank_score, 4),
        passage=judgement.sentence if judgement else None,
        led_by=led_by(item),
        unsupported=unsupported_of(scored.loss),
    )
    if not wanted.answer_over_question:
        return hit
    fields = {name: getattr(hit, name) for name in hit.__struct_fields__}
    return MemoryHit(**fields | {"score": round(score_hit_for_query(hit, wanted.query), 4)})
