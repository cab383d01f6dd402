"""Librarian's own search as the agent's tool: items, preceded by the lines of files that a query names exactly."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from graph.errors import GraphError
from graph.executor import Executor
from graph.file_lines import ChunkText, Lines
from graph.files import chunks_at
from librarian.base.errors import NotReady
from librarian.files.contracts import FindFileInput, SearchTextInput
from librarian.files.find import find_file
from librarian.files.text import search_text
from librarian.search.contracts import Hit, SearchInput, SearchOutput
from librarian_agents.errors import ToolRetry
from librarian_agents.search.types import Candidate
from retrieval.locate import LookupPlan, plan_lookup

Search = Callable[[SearchInput], Awaitable[SearchOutput]]

HITS_A_SEARCH = 20
NAMED_CHUNKS = 3
"""Maximum number of file parts for a name; the other candidates are those of the search."""

_NAMED_CHARS = 200


@dataclass(slots=True)
class OwnSearch:
    """The search tool of one request: maps indexes to uids, and an item keeps its index."""

    find: Search
    _uids: list[str] = field(default_factory=list)
    _indexes: dict[str, int] = field(default_factory=dict)
    _searches: int = 0

    async def search(self, query: str) -> Sequence[Candidate]:
        """Return the hits of `query`.

        Raises ToolRetry if the graph becomes unavailable after the first search; before that, the original error.
        """
        self._searches += 1
        try:
            found = await self.find(SearchInput(queries=[query], limit=HITS_A_SEARCH))
        except (GraphError, NotReady) as error:
            if self._searches == 1:
                raise
            raise ToolRetry(str(error)) from error
        return [self._candidate(hit) for hit in found.results]

    def uid_of(self, temp_index: int) -> str:
        """Return the uid of the item that `temp_index` stands for."""
        return self._uids[temp_index - 1]

    def _candidate(self, hit: Hit) -> Candidate:
        index = self._indexes.setdefault(hit.uid, len(self._indexes) + 1)
        if index > len(self._uids):
            self._uids.append(hit.uid)
        lines = None if hit.start_line is None else f"{hit.start_line}-{hit.end_line}"
        return Candidate(index, hit.content, source=hit.path or hit.author_name, page=lines, score=hit.score)


async def search_with_files(search: Search, executor: Executor, namespace: str, wanted: SearchInput) -> SearchOutput:
    """Search; if the first query is a path, a name or quoted words, put the parts of files containing it first."""
    found = await search(wanted)
    chunks = await _named(executor, namespace, plan_lookup(wanted.queries[0]))
    best = max((hit.score for hit in found.results), default=1.0)
    named = {chunk.uid: _hit(chunk, best) for chunk in chunks[:NAMED_CHUNKS]}
    found.results = [*named.values(), *(hit for hit in found.results if hit.uid not in named)]
    return found


async def _named(executor: Executor, namespace: str, plan: LookupPlan) -> list[ChunkText]:
    """Return parts of files that hold the text a query names; none for a query that names nothing exactly."""
    exact = plan.text if plan.definition or plan.meaning is None else None
    if exact is not None and len(exact) <= _NAMED_CHARS:
        hits = (await search_text(executor, namespace, SearchTextInput(query=exact, limit=NAMED_CHUNKS))).hits
        spans = [Lines(hit.path, hit.line, hit.line) for hit in hits]
    elif plan.shape == "path" and plan.path is not None:
        paths = (await find_file(executor, namespace, FindFileInput(name=plan.path, limit=NAMED_CHUNKS))).paths
        spans = [Lines(path, 1, 1) for path in paths]
    else:
        return []
    found = await chunks_at(executor, namespace, spans) if spans else []
    return sorted(found, key=lambda chunk: next(rank for rank, lines in enumerate(spans) if _holds(chunk, lines)))


def _holds(chunk: ChunkText, lines: Lines) -> bool:
    return chunk.path == lines.path and chunk.start_line <= lines.first_line <= chunk.end_line


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
