"""Lines of files that facts and memories cite as evidence, and whether they still stand."""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from itertools import groupby

from graph.executor import Executor, Row, Transaction
from graph.file_lines import ChunkText, Lines, lines_by_place
from graph.item import Fact, Memory, NewItem
from graph.types import native

PREFIX = "file:"
"""Prefix of a reference to a file, which stands in place of an item's uid."""

MAX_CITED_LINES = 500

_REFERENCE = re.compile(r"file:(?P<path>.+?)(?:#L|:)(?P<first>[0-9]{1,9})(?:-L?(?P<last>[0-9]{1,9}))?", re.DOTALL)
_KEPT_CHARS = 1_000


class CitationState(StrEnum):
    """State of cited lines: in their file, perhaps moved; changed; gone with the file; or never found, because no such
    file or line was indexed.
    """

    CURRENT = "current"
    CHANGED = "changed"
    GONE = "gone"
    NOT_FOUND = "not_found"


STALE = (CitationState.CHANGED, CitationState.GONE, CitationState.NOT_FOUND)


@dataclass(frozen=True, slots=True)
class Citation:
    """A citation of an item. `sha256` is that of the lines as first found, joined by line feeds; `text` is how they
    begin; both are None until then.
    """

    uid: str
    ref: str
    path: str
    start_line: int
    end_line: int
    sha256: str | None
    text: str | None = field(repr=False)
    state: CitationState = CitationState.NOT_FOUND


@dataclass(frozen=True, slots=True)
class StaleCitation:
    """An item whose cited lines no longer stand; lines and `text` are as they were last found."""

    uid: str
    kind: str
    name: str
    ref: str
    path: str
    start_line: int
    end_line: int
    state: CitationState
    stale_since: datetime | None
    text: str | None = field(repr=False)


def cited_lines(ref: str) -> Lines | None:
    """Return the lines named by `file:PATH#L12-L20`, `file:PATH#L12` or `file:PATH:12-20`; None for other references.

    Raises ValueError for one that starts like these but names no lines, or more than 500.
    """
    if not ref.startswith(PREFIX):
        return None
    found = _REFERENCE.fullmatch(ref)
    if found is None:
        raise ValueError("a reference to a file is file:PATH#L12 or file:PATH#L12-L20")
    first = int(found["first"])
    last = int(found["last"] or first)
    if not 1 <= first <= last < first + MAX_CITED_LINES:
        raise ValueError(f"lines count from 1, and at most {MAX_CITED_LINES} of them can be cited")
    return Lines(found["path"], first, last)


def settled(citation: Citation, lines: Sequence[str]) -> Citation:
    """Return the citation for a file that now holds `lines`; of several matches the nearest to its old position."""
    if citation.sha256 is None:
        if citation.end_line > len(lines):
            return citation
        text = "\n".join(lines[citation.start_line - 1 : citation.end_line])
        return replace(citation, sha256=_digest(text), text=text[:_KEPT_CHARS], state=CitationState.CURRENT)
    length = citation.end_line - citation.start_line + 1
    starts = range(len(lines) - length + 1)
    for start in sorted(starts, key=lambda start: abs(start + 1 - citation.start_line)):
        if _stands_at(citation, lines, start, length):
            return replace(citation, start_line=start + 1, end_line=start + length, state=CitationState.CURRENT)
    return replace(citation, state=CitationState.CHANGED)


async def put_citations(transaction: Transaction, namespace: str, items: Sequence[NewItem]) -> None:
    """Store the citations that the references of locked items name, in place of earlier ones, and look them up."""
    referring = [new.item for new in items if isinstance(new.item, Memory | Fact)]
    cited = {item.uid: _cited(item) for item in referring}
    if not cited:
        return
    rows = [
        {
            "uid": uid,
            "refs": list(refs),
            "citations": [
                {"ref": ref, "path": lines.path, "start_line": lines.first_line, "end_line": lines.last_line}
                for ref, lines in refs.items()
            ],
        }
        for uid, refs in cited.items()
    ]
    await transaction.run("put_citations", {"namespace": namespace, "rows": rows})
    paths = sorted({lines.path for refs in cited.values() for lines in refs.values()})
    await transaction.run("claim_files", {"namespace": namespace, "paths": paths})
    await settle_citations(transaction, namespace, paths)


async def settle_citations(transaction: Transaction, namespace: str, paths: Sequence[str]) -> None:
    """Look up again the citations of files that the transaction has locked or deleted."""
    rows = await transaction.run("list_citations", {"namespace": namespace, "paths": list(paths)})
    citations = [Citation(**row) for row in rows]
    if not citations:
        return
    cited = sorted({citation.path for citation in citations})
    (row,) = await transaction.run("chunks_of_paths", {"namespace": namespace, "paths": cited})
    found = (ChunkText(*chunk) for chunk in row["found"])
    chunks = {path: list(parts) for path, parts in groupby(found, key=lambda chunk: chunk.path)}
    settled_rows = [_settled_row(citation, chunks) for citation in citations]
    await transaction.run("settle_citations", {"namespace": namespace, "rows": settled_rows})


async def list_stale(executor: Executor, namespace: str, limit: int) -> list[StaleCitation]:
    """Return at most `limit` citations whose lines no longer stand, by path and line."""
    params = {"namespace": namespace, "states": [state.value for state in STALE], "limit": limit}
    return [
        StaleCitation(
            **{**row, "state": CitationState(row["state"]), "stale_since": native(row["stale_since"])},
        )
        for row in await executor.fetch_all("list_stale", params)
    ]


def _cited(item: Memory | Fact) -> dict[str, Lines]:
    """Return the references of an item that name lines of files."""
    named = {ref: cited_lines(ref) for ref in item.evidence_refs}
    return {ref: lines for ref, lines in named.items() if lines is not None}


def _settled_row(citation: Citation, chunks: Mapping[str, Sequence[ChunkText]]) -> Row:
    parts = chunks.get(citation.path, ())
    if parts:
        lines = lines_by_place(parts)
        citation = settled(citation, [lines[number] for number in sorted(lines)])
    else:
        gone = CitationState.NOT_FOUND if citation.sha256 is None else CitationState.GONE
        citation = replace(citation, state=gone)
    current = citation.state is CitationState.CURRENT
    return {
        "uid": citation.uid,
        "ref": citation.ref,
        "start_line": citation.start_line,
        "end_line": citation.end_line,
        "sha256": citation.sha256,
        "text": citation.text,
        "state": citation.state.value,
        "chunks": list(_holding(citation, parts)) if current else [],
    }


def _holding(citation: Citation, chunks: Iterable[ChunkText]) -> Iterable[str]:
    """Return the parts that hold cited lines."""
    return (
        chunk.uid for chunk in chunks if chunk.start_line <= citation.end_line and chunk.end_line >= citation.start_line
    )


def _stands_at(citation: Citation, lines: Sequence[str], start: int, length: int) -> bool:
    head = (citation.text or "").partition("\n")[0]
    if not lines[start].startswith(head):
        return False
    return _digest("\n".join(lines[start : start + length])) == citation.sha256


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
