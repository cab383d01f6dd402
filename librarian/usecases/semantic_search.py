"""The memory agent's searches: facts, messages, memories, and all kinds in one ranking."""

from collections.abc import Sequence
from typing import TypeVar

import structlog
from msgspec import UNSET

from graph.types import Kind
from librarian.contracts.semantic import SemanticSearchInput, SemanticSearchOutput
from librarian.errors import InvalidInput
from librarian.reranking import Reranking
from librarian.settings import SearchSettings
from librarian.usecases.search import LOGGED_CHARS, Tool, asked_for, rounded, run, threshold_explanation
from librarian.usecases.search_results import result
from retrieval.pipeline import SearchPipeline
from retrieval.thresholds import AdaptiveBound

log = structlog.get_logger("librarian.search")

Out = TypeVar("Out", bound=SemanticSearchOutput)


async def semantic_search(
    pipeline: SearchPipeline,
    reranking: Reranking,
    namespace: str,
    query: SemanticSearchInput,
    settings: SearchSettings,
    *,
    tool: Tool,
    kinds: Sequence[Kind],
    output: type[Out],
) -> Out:
    """Similar hits of `kinds` in `namespace` for `query`, best first. Raises InvalidInput."""
    _check_kinds(query, kinds, tool)
    limit = settings.max_facts if query.limit is UNSET else query.limit
    asked = asked_for(tool, namespace, query, settings, limit=limit, kinds=kinds)
    log.info(
        f"{tool} called",
        namespace=namespace,
        queries=[text[:LOGGED_CHARS] for text in asked.request.queries],
        limit=limit,
        adaptive_threshold=isinstance(asked.request.bound, AdaptiveBound),
        similarity_threshold=query.similarity_threshold,
        fusion_method=asked.request.fusion_method,
    )
    found = await run(pipeline, reranking, asked)
    threshold = found.result.threshold
    return output(
        queries=list(asked.request.queries),
        results=[result(scored, score, explain=query.explain) for scored, score in found.hits],
        threshold=threshold.value if threshold else None,
        iterations=threshold.iterations if threshold else 0,
        arms=dict(found.result.arms),
        reranked=found.reranked,
        notes=list(found.notes),
        threshold_explanation=threshold_explanation(asked, found) if query.explain else None,
        timings_ms=rounded(found.result.timings_ms) if query.explain else None,
    )


def _check_kinds(query: SemanticSearchInput, kinds: Sequence[Kind], tool: Tool) -> None:
    """A tool for one kind cannot find others."""
    named = query.filters.kinds if query.filters else None
    if named and not set(named) <= {kind.value for kind in kinds}:
        raise InvalidInput(
            f"{tool} finds no other kinds than {', '.join(kinds)}",
            field="filters.kinds",
            remedy="Leave the filter out, or call search_all.",
        )
