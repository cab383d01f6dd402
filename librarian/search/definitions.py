"""Definitions in indexed files as evidence, for questions about the location of a name."""

from graph.executor import Executor
from graph.file_lines import ChunkText, Lines
from graph.files import FileFilter, Symbol, chunks_at, find_symbols
from librarian.search.contracts import MemoryHit
from retrieval.answering import Verdict
from retrieval.definitions import by_meaning
from retrieval.file_roles import asked_roles
from retrieval.locate import LookupPlan, plan_lookup
from retrieval.text_matching import cut_around

MAX_DEFINITIONS = 500
"""Per name; the likeliest are chosen from these."""

_SHOWN = 3
_LINE_CHARS = 200


async def definitions(executor: Executor, namespace: str, plan: LookupPlan, query: str) -> list[Symbol]:
    """Return the definitions of the plan's name, likeliest first; `query` may ask for those of tests."""
    if plan.text is None or not plan.definition:
        return []
    found = await find_symbols(executor, FileFilter(namespace), plan.text, MAX_DEFINITIONS)
    roles = asked_roles(query.replace(plan.text, ""))
    return by_meaning(found, plan.text, qualifiers=plan.qualifiers, kind=plan.kind, roles=roles)


async def definition_hits(executor: Executor, namespace: str, query: str) -> list[MemoryHit]:
    """Return the definitions that a question asks for, as hits that say `X is defined in path:line`.

    Likeliest first and at most three; none for any other question.
    """
    plan = plan_lookup(query)
    if plan.shape != "definition":
        return []
    symbols = (await definitions(executor, namespace, plan, query))[:_SHOWN]
    spans = [Lines(symbol.path, symbol.line, symbol.line) for symbol in symbols]
    chunks = await chunks_at(executor, namespace, spans) if spans else []
    return [_hit(symbol, chunk) for symbol in symbols for chunk in chunks if _holds(chunk, symbol)]


def _holds(chunk: ChunkText, symbol: Symbol) -> bool:
    return chunk.path == symbol.path and chunk.start_line <= symbol.line <= chunk.end_line and chunk.start_column == 0


def _hit(symbol: Symbol, chunk: ChunkText) -> MemoryHit:
    line = chunk.text.split("\n")[symbol.line - chunk.start_line].strip()
    name = f"{symbol.scope}.{symbol.name}" if symbol.scope else symbol.name
    said = f"{name} is defined in {symbol.path}:{symbol.line}: {cut_around(line, 0, 0, _LINE_CHARS)}"
    return MemoryHit(
        uid=chunk.uid,
        kind="file_chunk",
        content=said,
        score=1.0,
        verdict=Verdict.ANSWERS.value,
        support=1.0,
        relevance=1.0,
        passage=said,
    )
