"""One question about files, asked of the layers that can answer it."""

import asyncio
from typing import TypeVar

from graph.executor import Executor
from graph.item import FileChunk
from graph.types import ItemFilter, Kind
from librarian.files.contracts import ChunkHit, FindFileInput, LocateInput, LocateOutput, SearchTextInput
from librarian.files.find import find_file
from librarian.files.text import hit_lines, search_text
from retrieval.locate import LookupPlan, plan_lookup
from retrieval.pipeline import SearchPipeline
from retrieval.types import SearchRequest

T = TypeVar("T")


async def locate(executor: Executor, pipeline: SearchPipeline, namespace: str, wanted: LocateInput) -> LocateOutput:
    """Return paths, lines and parts of files for a question."""
    plan = plan_lookup(wanted.query)
    paths, lines, parts = await asyncio.gather(
        _paths(executor, namespace, plan, wanted.limit),
        _lines(executor, namespace, plan, wanted.limit),
        _parts(pipeline, namespace, plan, wanted.limit),
    )
    return LocateOutput(
        namespace=namespace, query=wanted.query, shape=plan.shape, why=plan.why, paths=paths, lines=lines, parts=parts
    )


async def _paths(executor: Executor, namespace: str, plan: LookupPlan, limit: int) -> list[str]:
    if plan.path is None:
        return []
    return (await find_file(executor, namespace, FindFileInput(name=plan.path, limit=limit))).paths


async def _lines(executor: Executor, namespace: str, plan: LookupPlan, limit: int) -> list[str]:
    if plan.text is None:
        return []
    found = await search_text(executor, namespace, SearchTextInput(query=plan.text, limit=limit))
    return [line for hit in found.hits for line in hit_lines(hit)]


async def _parts(pipeline: SearchPipeline, namespace: str, plan: LookupPlan, limit: int) -> list[ChunkHit]:
    if plan.meaning is None:
        return []
    where = ItemFilter(namespace, kinds=[Kind.FILE_CHUNK])
    found = await pipeline.search(SearchRequest([plan.meaning], where, limit=limit))
    return [
        ChunkHit(
            uid=hit.item.uid,
            path=hit.item.path,
            start=hit.item.start_line,
            end=hit.item.end_line,
            text=hit.item.text,
            score=hit.score,
        )
        for hit in found.hits
        if isinstance(hit.item, FileChunk)
    ]
