"""Stored lines of a file."""

from graph.executor import Executor
from graph.file_lines import Lines, lines_by_place
from graph.files import chunks_at, get_files
from librarian.base.errors import InvalidInput, NotFound
from librarian.files.contracts import MAX_SPAN_LINES, FileSpan, SpanQuery
from librarian.files.indexing import no_file


async def open_file(executor: Executor, namespace: str, path: str, span: SpanQuery) -> FileSpan:
    """Return some lines of a file, at most 2,000.

    Raises NotFound, also for a file whose contents are not stored, and InvalidInput for lines that it does not have.
    """
    known = (await get_files(executor, namespace, [path])).get(path)
    if known is None:
        raise no_file(namespace)
    if known.unread or known.sha256 is None or known.lines is None:
        reason = known.unread or "not read yet"
        raise NotFound(f"the contents of this file are not stored: {reason}", field="path")
    if span.end is not None and span.end < span.start:
        raise InvalidInput("it must not be less than start", field="end")
    if span.start > max(1, known.lines):
        raise InvalidInput(f"the file has {known.lines} lines", field="start")
    last = min(span.end or known.lines, known.lines, span.start + MAX_SPAN_LINES - 1)
    chunks = await chunks_at(executor, namespace, [Lines(path, span.start, last)]) if known.lines else []
    lines = lines_by_place(chunks)
    return FileSpan(
        path=path,
        start=span.start,
        end=last,
        lines=known.lines,
        language=known.language,
        sha256=known.sha256,
        text="\n".join(lines.get((path, number), "") for number in range(span.start, last + 1)),
    )
