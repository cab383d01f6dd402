"""Answering one question about files with the layers that can."""

import asyncio
from collections.abc import Mapping, Sequence

from graph.executor import Executor
from graph.file_lines import Lines, lines_by_place
from graph.files import Symbol, chunks_at, find_by_outline
from graph.item import FileChunk
from graph.types import ItemFilter, Kind
from librarian.files.contracts import ChunkHit, LineHit, LocateInput, LocateOutput, Place, SearchTextInput
from librarian.files.find import found_files
from librarian.files.text import MAX_SHOWN_CHARS, hit_lines, search_text
from librarian.search.definitions import definitions
from retrieval.file_questions import FilePart, question_words, ranked_files
from retrieval.file_roles import Role, role_of
from retrieval.files import FoundFile, Tier, beginning, scripts_apart, some_words
from retrieval.locate import LookupPlan, other_plan, plan_lookup
from retrieval.pipeline import SearchPipeline
from retrieval.text_matching import cut_around
from retrieval.types import SearchRequest

# Parts and files from which the best are chosen.
_CANDIDATES = 50
_OUTLINES = 50


async def locate(executor: Executor, pipeline: SearchPipeline, namespace: str, wanted: LocateInput) -> LocateOutput:
    """Return paths, lines and parts of files for a question, and their combined places, best first."""
    plan = plan_lookup(wanted.query)
    found = await _asked(executor, pipeline, namespace, wanted, plan)
    if not found.places and (other := other_plan(wanted.query, plan)) is not None:
        return await _asked(executor, pipeline, namespace, wanted, other)
    return found


async def _asked(
    executor: Executor, pipeline: SearchPipeline, namespace: str, wanted: LocateInput, plan: LookupPlan
) -> LocateOutput:
    (defined, lesser), files, lines, parts = await asyncio.gather(
        _defined(executor, namespace, plan, wanted),
        _files(executor, namespace, plan),
        _lines(executor, namespace, plan, wanted.limit),
        _parts(executor, pipeline, namespace, plan),
    )
    places = _places(plan, (defined, lesser), files, lines, parts)
    return LocateOutput(
        namespace=namespace,
        query=wanted.query,
        shape=plan.shape,
        why=plan.why,
        places=places[: wanted.limit],
        paths=list(dict.fromkeys(place.path for place in places))[: wanted.limit],
        lines=list(dict.fromkeys([*(_shown(place) for place in (*defined, *lesser)), *_printed(lines)]))[
            : wanted.limit
        ],
        parts=[_hit(part.item, part.score) for part in parts if part.item is not None][: wanted.limit],
    )


async def _defined(
    executor: Executor, namespace: str, plan: LookupPlan, wanted: LocateInput
) -> tuple[list[Place], list[Place]]:
    """Return the definitions of the requested name, with their lines.

    For a bare identifier, those that do not define it for other code are returned separately.
    """
    symbols = (await definitions(executor, namespace, plan, wanted.query))[: wanted.limit]
    main = [symbol for symbol in symbols if plan.shape != "identifier" or plan.qualifiers or _is_at_the_top(symbol)]
    symbols = [*main, *(symbol for symbol in symbols if symbol not in main)]
    spans = [Lines(symbol.path, symbol.line, symbol.line) for symbol in symbols]
    lines = lines_by_place(await chunks_at(executor, namespace, spans)) if spans else {}
    places = [
        Place(
            path=symbol.path,
            line=symbol.line,
            text=cut_around(lines.get((symbol.path, symbol.line), ""), 0, 0, MAX_SHOWN_CHARS),
            why=f"it defines the {symbol.kind} {'.'.join([*([symbol.scope] if symbol.scope else []), symbol.name])}",
        )
        for symbol in symbols
    ]
    return places[: len(main)], places[len(main) :]


async def _files(executor: Executor, namespace: str, plan: LookupPlan) -> list[FoundFile]:
    return [] if plan.path is None else await found_files(executor, namespace, plan.path)


async def _lines(executor: Executor, namespace: str, plan: LookupPlan, limit: int) -> Sequence[LineHit]:
    if plan.text is None:
        return []
    return (await search_text(executor, namespace, SearchTextInput(query=plan.text, limit=limit))).hits


def _printed(hits: Sequence[LineHit]) -> list[str]:
    return [line for hit in hits for line in hit_lines(hit)]


async def _parts(
    executor: Executor, pipeline: SearchPipeline, namespace: str, plan: LookupPlan
) -> list[FilePart[FileChunk]]:
    """Return parts of files about the question, those of the best file first."""
    if plan.meaning is None:
        return []
    where = ItemFilter(namespace, kinds=[Kind.FILE_CHUNK])
    found, outlined = await asyncio.gather(
        pipeline.search(SearchRequest([scripts_apart(plan.meaning)], where, limit=_CANDIDATES, fusion_method="rrf")),
        _outlined(executor, namespace, plan.meaning),
    )
    parts = [FilePart(hit.item.path, hit.item, hit.score) for hit in found.hits if isinstance(hit.item, FileChunk)]
    return ranked_files(plan.meaning, parts, *outlined)


async def _outlined(executor: Executor, namespace: str, question: str) -> Sequence[Mapping[str, Sequence[int]]]:
    """Return files that define the topic of the question, and files whose paths contain its words, each with the
    indexes of the question's words in its outline.
    """
    words = question_words(question)
    outlines, paths = (some_words(field, words, namespace) for field in ("outline", "search_text"))
    if outlines is None or paths is None:
        return {}, {}
    return await find_by_outline(executor, namespace, outlines, paths, [beginning(word) for word in words], _OUTLINES)


def _is_at_the_top(symbol: Symbol) -> bool:
    """Whether a source defines a name for others: not an attribute, a local or a test's."""
    return not symbol.scope and role_of(symbol.path) is Role.SOURCE


def _is_called_so(file: FoundFile) -> bool:
    return file.tier <= Tier.STEM and role_of(file.path) is Role.SOURCE


def _places(
    plan: LookupPlan,
    definitions: tuple[Sequence[Place], Sequence[Place]],
    files: Sequence[FoundFile],
    lines: Sequence[LineHit],
    parts: Sequence[FilePart[FileChunk]],
) -> list[Place]:
    """Return the places of all layers, one per file without known lines.

    In order: definitions, sources with that name if there are lesser definitions, lesser definitions, names, lines that
    hold a phrase, then meaning.
    """
    defined, lesser = definitions
    named = [Place(path=file.path, line=None, text="", why=file.why) for file in files]
    called = [place for place, file in zip(named, files, strict=True) if lesser and _is_called_so(file)]
    meant = [
        Place(
            path=part.path,
            line=part.item.start_line if part.item else None,
            text="",
            why="it is about the question" if part.item else "what it defines is about the question",
        )
        for part in parts
    ]
    said = [Place(path=hit.path, line=hit.line, text=hit.text, why="it holds the words") for hit in lines]
    names = [*defined, *called, *lesser, *named, *(said if plan.shape == "phrase" else [])]
    order = [*meant, *names] if plan.shape == "question" and not defined else [*names, *meant]
    first: dict[tuple[str, int | None], Place] = {}
    seen: set[str] = set()
    for place in order:
        if place in defined or place in lesser or place.path not in seen:
            first.setdefault((place.path, place.line), place)
        seen.add(place.path)
    return list(first.values())


def _shown(place: Place) -> str:
    return f"{place.path}:{place.line}: {place.text}"


def _hit(chunk: FileChunk, score: float) -> ChunkHit:
    return ChunkHit(
        uid=chunk.uid,
        path=chunk.path,
        start=chunk.start_line,
        end=chunk.end_line,
        text=chunk.text,
        score=round(score, 4),
    )
