"""One search of several namespaces: each is searched as if it were alone, and their rankings become one."""

import asyncio
import heapq
from collections.abc import Awaitable, Callable, Sequence
from itertools import accumulate

from msgspec.structs import replace

from librarian.search.contracts import Hit, SearchInput, SearchOutput

Find = Callable[[str, SearchInput], Awaitable[SearchOutput]]
_OK = "ok"


async def search_several(find: Find, namespace: str, query: SearchInput) -> SearchOutput:
    """Return the best hits of `query.namespaces`, each with where it is from. Raises InvalidInput."""
    named = list(dict.fromkeys(query.namespaces or [namespace]))
    alone = replace(query, namespaces=None)
    return merged(namespace, await asyncio.gather(*(find(each, alone) for each in named)), query.limit)


def merged(namespace: str, found: Sequence[SearchOutput], limit: int) -> SearchOutput:
    """Return one answer: the order within each namespace stays, and of what comes next in each, the best stands first.

    Scores of different namespaces do not compare: they are relative to what else was found there. What compares is the
    reranker's score, where it ordered all of them, else the calibrated similarity; of each hit counts the best of what
    stands at its place or behind it, since its ranking put it above all that.
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
    """Return the hits of one namespace with what they are compared by, which never rises."""
    values = [(hit.rerank_score if by_reranker else hit.similarity_score) or 0.0 for hit in found.results]
    best_from_here = list(accumulate(reversed(values), max))[::-1]
    named = [replace(hit, namespace=found.namespace) for hit in found.results]
    return list(zip(best_from_here, named, strict=True))


def _arms(found: Sequence[SearchOutput]) -> dict[str, str]:
    """Return what each arm did: "ok" where it was so everywhere, else the first other state and where that was."""
    states: dict[str, str] = {}
    for each in found:
        for arm, state in each.arms.items():
            if states.setdefault(arm, _OK) == _OK and state != _OK:
                states[arm] = f"{state} ({each.namespace})"
    return states
