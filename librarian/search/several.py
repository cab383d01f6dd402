"""One search of several namespaces: each is searched separately, and their rankings are merged."""

import asyncio
import heapq
from collections.abc import Awaitable, Callable, Sequence
from itertools import accumulate

from msgspec.structs import replace

from librarian.search.contracts import Hit, SearchInput, SearchOutput

Find = Callable[[str, SearchInput], Awaitable[SearchOutput]]
_OK = "ok"


async def search_several(find: Find, namespace: str, query: SearchInput) -> SearchOutput:
    """Return the best hits of `query.namespaces`, each with its namespace. Raises InvalidInput."""
    named = list(dict.fromkeys(query.namespaces or [namespace]))
    alone = replace(query, namespaces=None)
    return merged(namespace, await asyncio.gather(*(find(each, alone) for each in named)), query.limit)


def merged(namespace: str, found: Sequence[SearchOutput], limit: int) -> SearchOutput:
    """Return one answer that keeps the order within each namespace and takes the best of their next hits.

    Scores of different namespaces are not comparable: they are relative to the other hits there. Comparable are the
    reranker's score, if it ordered all of them, otherwise the calibrated similarity; a hit counts as the best value at
    or behind its rank, since its ranking put it above the rest.
    """
    by_reranker = all(each.reranked for each in found)
    placed = [_placed(each, by_reranker=by_reranker) for each in found]
    ordered = heapq.merge(*placed, key=lambda place: -place[0])
    first = found[0]
    thresholds = [each.threshold for each in found if each.threshold is not None]
    return SearchOutput(
        namespace=namespace,
        queries=first.queries,
        results=[hit for _, hit in ordered][:limit],
        threshold=min(thresholds, default=None),
        iterations=max(each.iterations for each in found),
        arms=_arms(found),
        reranked=by_reranker,
        notes=[f"{each.namespace}: {note}" for each in found for note in each.notes],
    )


def _placed(found: SearchOutput, *, by_reranker: bool) -> list[tuple[float, Hit]]:
    """Return the hits of one namespace with their comparison values, which never increase."""
    values = [(hit.rerank_score if by_reranker else hit.similarity_score) or 0.0 for hit in found.results]
    best_from_here = list(accumulate(reversed(values), max))[::-1]
    named = [replace(hit, namespace=found.namespace) for hit in found.results]
    return list(zip(best_from_here, named, strict=True))


def _arms(found: Sequence[SearchOutput]) -> dict[str, str]:
    """Return the state of each arm: "ok" if it was so everywhere, otherwise the first other state and its namespace."""
    states: dict[str, str] = {}
    for each in found:
        for arm, state in each.arms.items():
            if states.setdefault(arm, _OK) == _OK and state != _OK:
                states[arm] = f"{state} ({each.namespace})"
    return states
