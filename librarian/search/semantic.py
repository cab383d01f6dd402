"""The memory agent's searches: facts, messages, memories, and all kinds in one ranking."""

from collections.abc import Sequence
from typing import TypeVar

import structlog
from msgspec import UNSET

from graph.types import Kind
from librarian.base.errors import InvalidInput
from librarian.base.settings.settings import SearchSettings
from librarian.runtime.reranking import Reranking
from librarian.search.contracts import SemanticSearchInput, SemanticSearchOutput
from librarian.search.results import result
from librarian.search.search import LOGGED_CHARS, Tool, common_fields, plan_search, run
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
    """Return similar hits of `kinds` in `namespace` for `query`, best first. Raises InvalidInput."""
    _check_kinds(query, kinds, tool)
    limit = settings.max_facts if query.limit is UNSET else query.limit
    plan = plan_search(tool, namespace, query, settings, limit=limit, kinds=kinds)
    log.info(
        f"{tool} called",
        namespace=namespace,
        queries=[text[:LOGGED_CHARS] for text in plan.request.queries],
        limit=limit,
        adaptive_threshold=isinstance(plan.request.bound, AdaptiveBound),
        similarity_threshold=query.similarity_threshold,
        fusion_method=plan.request.fusion_method,
    )
    found = await run(pipeline, reranking, plan)
    results = [result(scored, score, explain=query.explain) for scored, score in found.hits]
    return output(results=results, **common_fields(plan, found, explain=query.explain))


def _check_kinds(query: SemanticSearchInput, kinds: Sequence[Kind], tool: Tool) -> None:
    """Refuse kinds that the tool cannot find."""
    named = query.filters.kinds if query.filters else None
    if named and not set(named) <= {kind.value for kind in kinds}:
        raise InvalidInput(
            f"{tool} finds no other kinds than {', '.join(kinds)}",
            field="filters.kinds",
            remedy="Leave the filter out, or call search_all.",
        )
