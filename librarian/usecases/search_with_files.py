"""The search of the agent: what is kept, and before it the lines of files that a query names exactly."""

from collections.abc import Awaitable, Callable

from graph.executor import Executor
from graph.file_lines import ChunkText, Lines
from graph.files import chunks_at
from librarian.contracts.files import FindFileInput, SearchTextInput
from librarian.contracts.search import Hit, SearchInput, SearchOutput
from librarian.usecases.find_file import find_file
from librarian.usecases.search_text import search_text
from retrieval.locate import SearchPlan, plan_search

Search = Callable[[SearchInput], Awaitable[SearchOutput]]

PLACES = 3
"""Parts of files at most that a name brings; the rest of the candidates are found as ever."""

_NAMED_CHARS = 200


async def search_with_files(search: Search, executor: Executor, namespace: str, wanted: SearchInput) -> SearchOutput:
    """What `search` finds; where the first query is a path, a name or quoted words, parts of files with it first."""
    found = await search(wanted)
    chunks = await _named(executor, namespace, plan_search(wanted.queries[0]))
    best = max((hit.score for hit in found.results), default=1.0)
    named = {chunk.uid: _hit(chunk, best) for chunk in chunks[:PLACES]}
    found.results = [*named.values(), *(hit for hit in found.results if hit.uid not in named)]
    return found


async def _named(executor: Executor, namespace: str, plan: SearchPlan) -> list[ChunkText]:
    """Parts of files that hold what a query names; none for a query that names nothing exactly."""
    exact = plan.text if plan.definition or plan.meaning is None else None
    if exact is not None and len(exact) <= _NAMED_CHARS:
        hits = (await search_text(executor, namespace, SearchTextInput(query=exact, limit=PLACES))).hits
        places = [Lines(hit.path, hit.line, hit.line) for hit in hits]
    elif plan.shape == "path" and plan.path is not None:
        paths = (await find_file(executor, namespace, FindFileInput(name=plan.path, limit=PLACES))).paths
        places = [Lines(path, 1, 1) for path in paths]
    else:
        return []
    found = await chunks_at(executor, namespace, places) if places else []
    return sorted(found, key=lambda chunk: next(rank for rank, place in enumerate(places) if _holds(chunk, place)))


def _holds(chunk: ChunkText, place: Lines) -> bool:
    return chunk.path == place.path and chunk.start_line <= place.first_line <= chunk.end_line


def _hit(chunk: ChunkText, score: float) -> Hit:
    return Hit(
        uid=chunk.uid,
        kind="file_chunk",
        score=score,
        similarity_score=None,
        content=chunk.text,
        path=chunk.path,
        start_line=chunk.start_line,
        end_line=chunk.end_line,
    )
