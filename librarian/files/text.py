"""Exact text search in lines of files."""

import asyncio
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace

from graph.executor import Executor
from graph.file_lines import ChunkText, Lines, lines_by_place
from graph.files import FileFilter, Symbol, chunks_at, chunks_containing, chunks_of_files, find_symbols
from librarian.base import cursors
from librarian.base.errors import InvalidInput
from librarian.files.contracts import MAX_LINES, LineHit, SearchTextInput, SearchTextOutput, TextLines
from librarian.search.definitions import MAX_DEFINITIONS
from retrieval.definitions import by_meaning
from retrieval.file_languages import LANGUAGES
from retrieval.file_roles import preference
from retrieval.text_matching import InvalidPattern, LineMatcher, cut_around, glob_expression, line_matcher

MAX_SHOWN_CHARS = 500
_FIRST_PAGE = 60
_PAGE = 1_000
_FILES_AT_ONCE = 100
_IDENTIFIER = re.compile(r"[^\W\d]\w*")

# (path, line) -> the line, and the offset of its first match.
_Found = dict[tuple[str, int], tuple[str, int, int]]


@dataclass(frozen=True, slots=True)
class _Lines:
    """Matching lines, best first in `order`; there are more unless they are `complete`."""

    order: Sequence[tuple[str, int]]
    found: _Found
    symbols: Mapping[tuple[str, int], Symbol]
    complete: bool


async def search_text(executor: Executor, namespace: str, wanted: SearchTextInput) -> SearchTextOutput:
    """Return a page of matching lines. Raises InvalidInput for an invalid pattern, glob, language or cursor.

    The first page ranks only the lines needed to fill it; the following pages have the rest in overall order, so that
    no line is repeated or missed while no file changes.
    """
    matcher, where = _compiled(wanted), _filter(namespace, wanted)
    first, done = (wanted.limit, 0) if wanted.cursor is None else _position(namespace, wanted, wanted.cursor)
    lines = await _ranked(executor, where, matcher, wanted, first)
    if done and not lines.complete:
        begun, lines = lines.order[:first], await _ranked(executor, where, matcher, wanted, None)
        lines = replace(lines, order=list(dict.fromkeys([*begun, *lines.order])))
    shown, end = lines.order[done : done + wanted.limit], done + wanted.limit
    more = not lines.complete or len(lines.order) > end
    context = await _context(executor, namespace, shown, wanted.context)
    return SearchTextOutput(
        namespace=namespace,
        query=wanted.query,
        hits=[_hit(line, lines.found[line], lines.symbols.get(line), context, wanted.context) for line in shown],
        more=more,
        next_cursor=cursors.encode(namespace, wanted, [str(first), str(end)]) if more else None,
        total=len(lines.order) if lines.complete else None,
        notes=_notes(matcher),
    )


def _position(namespace: str, wanted: SearchTextInput, cursor: str) -> tuple[int, int]:
    """Return the number of lines on the first page and on all pages so far. Raises InvalidInput."""
    try:
        first, done = map(int, cursors.decode(namespace, wanted, cursor))
    except ValueError:
        raise cursors.invalid() from None
    if not 1 <= first <= min(done, MAX_LINES):
        raise cursors.invalid()
    return first, done


async def _ranked(
    executor: Executor, where: FileFilter, matcher: LineMatcher, wanted: SearchTextInput, enough: int | None
) -> _Lines:
    """Return lines until there are more than `enough` (None for all), definitions of the name first."""
    async with asyncio.TaskGroup() as tasks:
        scanning = tasks.create_task(_scan(executor, where, matcher, enough))
        defining = tasks.create_task(_definitions(executor, where, wanted, enough))
    found, complete = scanning.result()
    symbols = defining.result()
    await _add_missing(executor, where.namespace, matcher, found, symbols)
    places = {line: number for number, line in enumerate(symbols)}
    order = sorted(found, key=lambda line: (places.get(line, len(places)), preference(line[0], ()), line))
    return _Lines(order, found, symbols, complete)


def as_lines(output: SearchTextOutput) -> TextLines:
    """Return a search's hits as lines of text, with context in grep's format."""
    lines = [line for hit in output.hits for line in hit_lines(hit)]
    return TextLines(
        lines=lines, more=output.more, next_cursor=output.next_cursor, total=output.total, notes=output.notes
    )


def hit_lines(hit: LineHit) -> list[str]:
    """Return one hit as lines: `path:line: text`, and its context with `-` in place of the colons."""
    first = hit.line - len(hit.before)
    return [
        *(f"{hit.path}-{number}- {text}" for number, text in enumerate(hit.before, start=first)),
        f"{hit.path}:{hit.line}: {hit.text}",
        *(f"{hit.path}-{number}- {text}" for number, text in enumerate(hit.after, start=hit.line + 1)),
    ]


async def _scan(executor: Executor, where: FileFilter, matcher: LineMatcher, enough: int | None) -> tuple[_Found, bool]:
    """Return matching lines, and whether they are complete; the scan stops once it has more than `enough`."""
    found: _Found = {}
    async for chunks, last in _candidates(executor, where, matcher, _FIRST_PAGE if enough is None else enough + 1):
        for chunk in chunks:
            _match(chunk, matcher, found)
        if enough is not None and len(found) > enough and not last:
            return found, False
    return found, True


async def _candidates(
    executor: Executor, where: FileFilter, matcher: LineMatcher, first_page: int
) -> AsyncIterator[tuple[Sequence[ChunkText], bool]]:
    """Yield pages of parts that may match, and whether each page is the last one."""
    if not matcher.needles:
        after: str | None = ""
        while after is not None:
            page, after = await chunks_of_files(executor, where, after, _FILES_AT_ONCE)
            yield page, after is None
        return
    for needle in matcher.needles:
        skip, size = 0, max(_FIRST_PAGE, first_page)
        while True:
            page = await chunks_containing(executor, where, needle, skip=skip, limit=size)
            yield page, len(page) < size and needle == matcher.needles[-1]
            if len(page) < size:
                break
            skip, size = skip + size, _PAGE


def _match(chunk: ChunkText, matcher: LineMatcher, found: _Found) -> None:
    lines: list[str] | None = None
    for number, start, end in matcher.lines(chunk.text):
        key = (chunk.path, chunk.start_line + number)
        if key not in found:
            lines = chunk.text.split("\n") if lines is None else lines
            found[key] = (lines[number], start, end)


async def _definitions(
    executor: Executor, where: FileFilter, wanted: SearchTextInput, most: int | None
) -> dict[tuple[str, int], Symbol]:
    """Return the definitions of the query, if it is a name, likeliest first."""
    if wanted.regex or not _IDENTIFIER.fullmatch(wanted.query):
        return {}
    found = await find_symbols(executor, where, wanted.query, MAX_DEFINITIONS)
    symbols = [symbol for symbol in found if wanted.ignore_case or symbol.name == wanted.query]
    return {(symbol.path, symbol.line): symbol for symbol in by_meaning(symbols, wanted.query)[:most]}


async def _add_missing(
    executor: Executor,
    namespace: str,
    matcher: LineMatcher,
    found: _Found,
    symbols: Mapping[tuple[str, int], Symbol],
) -> None:
    """Add definitions behind the lines that filled the limit."""
    missing = [Lines(path, line, line) for path, line in symbols if (path, line) not in found]
    if not missing:
        return
    wanted: set[tuple[str, int]] = {(symbol.path, symbol.first_line) for symbol in missing}
    also: _Found = {}
    for chunk in await chunks_at(executor, namespace, missing):
        _match(chunk, matcher, also)
    found.update({key: hit for key, hit in also.items() if key in wanted})


async def _context(
    executor: Executor, namespace: str, places: Sequence[tuple[str, int]], around: int
) -> dict[tuple[str, int], str]:
    """Return the lines around hits, by path and line."""
    if not around or not places:
        return {}
    spans = [Lines(path, max(1, line - around), line + around) for path, line in places]
    return lines_by_place(await chunks_at(executor, namespace, spans))


def _hit(
    key: tuple[str, int],
    line: tuple[str, int, int],
    symbol: Symbol | None,
    context: Mapping[tuple[str, int], str],
    around: int,
) -> LineHit:
    path, number = key
    before = [context.get((path, i)) for i in range(number - around, number)]
    after = [context.get((path, i)) for i in range(number + 1, number + around + 1)]
    return LineHit(
        path=path,
        line=number,
        text=cut_around(*line, MAX_SHOWN_CHARS),
        defines=symbol.kind if symbol else None,
        before=[_short(text) for text in before if text is not None],
        after=[_short(text) for text in after if text is not None],
    )


def _short(line: str) -> str:
    return cut_around(line, 0, 0, MAX_SHOWN_CHARS)


def _compiled(wanted: SearchTextInput) -> LineMatcher:
    try:
        return line_matcher(wanted.query, regex=wanted.regex, ignore_case=wanted.ignore_case, word=wanted.word)
    except InvalidPattern as error:
        raise InvalidInput(str(error), field="$.query") from None


def _filter(namespace: str, wanted: SearchTextInput) -> FileFilter:
    unknown = sorted(set(wanted.languages or ()) - set(LANGUAGES))
    if unknown:
        raise InvalidInput(
            f"no language is called {unknown[0]!r}", field="$.languages", remedy=f"One of: {', '.join(LANGUAGES)}."
        )
    globs = wanted.globs or []
    try:
        included = [glob_expression(glob) for glob in globs if not glob.startswith("!")]
        excluded = [glob_expression(glob[1:]) for glob in globs if glob.startswith("!")]
    except InvalidPattern as error:
        raise InvalidInput(str(error), field="$.globs") from None
    return FileFilter(namespace, wanted.languages, included or None, excluded)


def _notes(matcher: LineMatcher) -> list[str]:
    if matcher.needles:
        return []
    return ["every file was read: no text is in every match, nor three letters of several; a longer query is faster"]
