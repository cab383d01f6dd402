"""Finding files by name."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import get_args

from graph.executor import Executor
from graph.files import find_by_name, find_by_words
from librarian.files.contracts import FileMatch, FindFileInput, FindFileOutput, NameMatch
from retrieval.files import (
    Candidate,
    FileQuery,
    FoundFile,
    Tier,
    beginning,
    file_query,
    lucene_words,
    parameters,
    ranked,
    some_words,
)

# Hundreds may share one name: the server returns those with the shortest paths, the best are chosen here.
_CANDIDATES = 100
_MATCH: Mapping[Tier, NameMatch] = dict(zip(Tier, get_args(NameMatch), strict=True))


async def find_file(executor: Executor, namespace: str, wanted: FindFileInput) -> FindFileOutput:
    """Return paths of files, best first, each with the reason for the match."""
    found = (await found_files(executor, namespace, wanted.name))[: wanted.limit]
    return FindFileOutput(
        namespace=namespace,
        name=wanted.name,
        paths=[file.path for file in found],
        matches=[FileMatch(path=file.path, match=_MATCH[file.tier], why=file.why) for file in found],
    )


async def found_files(executor: Executor, namespace: str, text: str) -> list[FoundFile]:
    """Return files named by `text`, best first; words of paths are searched only if no file has exactly this name."""
    query = file_query(text)
    if not query.is_exact:
        named, worded = await asyncio.gather(
            _named(executor, namespace, query), _with_words(executor, namespace, query)
        )
        return ranked(query, [*named, *worded])
    named = await _named(executor, namespace, query)
    found = ranked(query, named)
    if found and found[0].tier <= Tier.NAME:
        return found
    return ranked(query, [*named, *await _with_words(executor, namespace, query)])


async def _named(executor: Executor, namespace: str, query: FileQuery) -> Sequence[Candidate]:
    found = await find_by_name(executor, namespace, parameters(query), _CANDIDATES)
    return [Candidate(path, defines) for path, defines in found]


async def _with_words(executor: Executor, namespace: str, query: FileQuery) -> Sequence[Candidate]:
    paths = lucene_words(query, namespace)
    outlines = some_words("outline", [*query.words, *query.hints], namespace)
    if paths is None or outlines is None:
        return []
    beginnings = [beginning(word) for word in query.words]
    found = await find_by_words(executor, namespace, paths, outlines, beginnings, _CANDIDATES)
    return [Candidate(path, told=frozenset(query.words[number] for number in told)) for path, told in found]
