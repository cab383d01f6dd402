"""Files: paths, parts as exact text, and the symbols that their code defines."""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from graph.citations import settle_citations
from graph.deletion import cascade_of
from graph.executor import Executor, Row, Transaction
from graph.file_lines import ChunkText, Lines
from graph.tokens import item_tokens, token
from graph.tombstones import Said, hold_back
from graph.types import Cascade, Change, ItemAction, Kind, native

_PAGE = 5_000


@dataclass(frozen=True, slots=True)
class NewFile:
    """A newly seen file; `properties` are the keys to find it by."""

    path: str
    root: str
    size: int
    mtime_ns: int
    language: str | None
    properties: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class KnownFile:
    """A stored file; `sha256` is None until its contents are stored, `unread` says why they never will be."""

    path: str
    root: str
    size: int
    mtime_ns: int
    sha256: str | None
    unread: str | None
    language: str | None
    lines: int | None
    indexed_at: datetime | None


@dataclass(frozen=True, slots=True)
class NewChunk:
    """Whole lines of a file, numbered from 1, or from `start_column` on a piece of one very long line."""

    uid: str
    name: str
    start_line: int
    end_line: int
    start_column: int
    text: str = field(repr=False)
    search_text: str = field(repr=False)
    cjk: bool = False


@dataclass(frozen=True, slots=True)
class NewSymbol:
    """A definition in a file; lines count from 1. `scope` has the enclosing names, outermost first, with dots."""

    name: str
    kind: str
    line: int
    end_line: int
    scope: str = ""


@dataclass(frozen=True, slots=True)
class FileContent:
    """Contents of a file; only `unread` if it cannot be read."""

    path: str
    sha256: str
    size: int
    mtime_ns: int
    language: str | None
    lines: int = 0
    chunks: Sequence[NewChunk] = ()
    symbols: Sequence[NewSymbol] = ()
    outline: str = field(default="", repr=False)
    unread: str | None = None


@dataclass(frozen=True, slots=True)
class StoredContents:
    """Effect of storing contents, in parts of files; `held_back` had been forgotten."""

    added: int
    kept: int
    removed: int
    held_back: int = 0


@dataclass(frozen=True, slots=True)
class FileFilter:
    """Files in which to search for a text: languages, and regular expressions over whole paths; None means any."""

    namespace: str
    languages: Sequence[str] | None = None
    included: Sequence[str] | None = None
    excluded: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Symbol:
    """A definition of a name; `scope` has the enclosing names, outermost first, with dots."""

    path: str
    name: str
    kind: str
    line: int
    end_line: int
    scope: str = ""


async def known_files(executor: Executor, namespace: str) -> AsyncIterator[KnownFile]:
    """Yield every file of `namespace`, by path."""
    after = ""
    while True:
        rows = await executor.fetch_all("list_files", {"namespace": namespace, "after": after, "limit": _PAGE})
        for row in rows:
            yield _known(row)
        if len(rows) < _PAGE:
            return
        after = rows[-1]["path"]


async def list_files(executor: Executor, namespace: str, after: str, limit: int) -> list[KnownFile]:
    """Return at most `limit` files of `namespace` after the path `after`, by path."""
    rows = await executor.fetch_all("list_files", {"namespace": namespace, "after": after, "limit": limit})
    return [_known(row) for row in rows]


async def count_unread(executor: Executor, reason: str) -> tuple[int, list[str]]:
    """Return how many files of all namespaces have no contents for this reason, and a few of them."""
    (row,) = await executor.fetch_all("count_unread_files", {"reason": reason})
    return row["files"], row["examples"]


async def get_files(executor: Executor, namespace: str, paths: Sequence[str]) -> dict[str, KnownFile]:
    """Return those of `paths` that `namespace` has."""
    rows = await executor.fetch_all("get_files", {"namespace": namespace, "paths": list(paths)})
    return {row["path"]: _known(row) for row in rows}


async def paths_below(executor: Executor, namespace: str, root: str, folder: str) -> list[str]:
    """Return paths of the files of `root` in `folder`, at any depth."""
    params = {"namespace": namespace, "root": root, "folder": f"{folder}/"}
    return [row["path"] for row in await executor.fetch_all("files_below", params)]


async def put_files(executor: Executor, namespace: str, files: Sequence[NewFile]) -> None:
    """Store paths, which can be found from now on; contents already stored stay."""
    tokens = token("namespace", namespace)
    rows = [
        {
            "path": file.path,
            "properties": {
                **file.properties,
                "root": file.root,
                "size": file.size,
                "mtime_ns": file.mtime_ns,
                "language": file.language,
                "tokens": tokens,
            },
        }
        for file in sorted(files, key=lambda file: file.path)
    ]

    async def work(transaction: Transaction) -> None:
        created = await transaction.run("put_files", {"namespace": namespace, "rows": rows})
        _report(transaction, namespace, "added", (row["path"] for row in created))

    await executor.transaction("put_files", work)


async def store_contents(executor: Executor, namespace: str, contents: Sequence[FileContent]) -> StoredContents:
    """Replace the contents of files, all or nothing; files deleted meanwhile are skipped.

    Parts with unchanged text keep their uid and everything attached to it; their lines move.
    """

    async def work(transaction: Transaction) -> StoredContents:
        return await _store(transaction, namespace, contents)

    return await executor.transaction("store_contents", work)


async def touch_files(executor: Executor, namespace: str, contents: Sequence[FileContent]) -> None:
    """Record that files are unchanged, with their current times and sizes."""
    rows = [_finished_row(content) for content in contents]
    await executor.write("finish_files", {"namespace": namespace, "rows": rows})


async def delete_files(executor: Executor, namespace: str, paths: Sequence[str]) -> int:
    """Delete files with everything attached to them; returns how many existed."""

    async def work(transaction: Transaction) -> int:
        claimed = await _claim(transaction, namespace, paths)
        await _drop_chunks(transaction, namespace, [uid for uids in claimed.values() for uid in uids])
        rows = await transaction.run("delete_files", {"namespace": namespace, "paths": sorted(claimed)})
        _report(transaction, namespace, "deleted", claimed)
        await settle_citations(transaction, namespace, sorted(claimed))
        return int(rows[0]["deleted"])

    return await executor.transaction("delete_files", work)


async def delete_unchanged_files(
    executor: Executor, namespace: str, seen: Mapping[str, str | None]
) -> tuple[Cascade, int]:
    """Delete files that were not stored again since they were seen, by path with `indexed_at` as text. Returns the
    items deleted, and how many files stay.
    """

    async def work(transaction: Transaction) -> tuple[Cascade, int]:
        params = {"namespace": namespace, "paths": sorted(seen)}
        claimed = {row["path"]: row["indexed_at"] for row in await transaction.run("claim_files", params)}
        paths = [path for path, indexed_at in claimed.items() if indexed_at == seen[path]]
        params = {"namespace": namespace, "paths": paths}
        chunks = [row["uid"] for row in await transaction.run("list_chunks", params)]
        (row,) = await transaction.run("delete_items", {"namespace": namespace, "doomed": chunks})
        await transaction.run("delete_files", params)
        _report(transaction, namespace, "deleted", paths)
        await settle_citations(transaction, namespace, paths)
        return cascade_of({Kind.FILE_CHUNK: len(chunks)} if chunks else {}, row), len(claimed) - len(paths)

    return await executor.transaction("delete_files", work)


async def find_by_name(
    executor: Executor, namespace: str, keys: Mapping[str, Any], limit: int
) -> list[tuple[str, bool]]:
    """Return paths of at most `limit` files for each reading of a name, each with whether the file is included because
    it defines the name.
    """
    found = await executor.fetch_list("find_files", {"namespace": namespace, "limit": limit, **keys})
    return [(path, defines) for path, defines in found if path is not None]


async def find_by_words(
    executor: Executor, namespace: str, paths: str, outlines: str, beginnings: Sequence[str], limit: int
) -> list[tuple[str, list[int]]]:
    """Return paths of files for Lucene terms over paths and over outlines, at most `limit` for each, with the indexes
    of those `beginnings` of words that the file's outline contains.
    """
    stems = [f" {beginning}" for beginning in beginnings]
    params = {"namespace": namespace, "words": paths, "outlines": outlines, "stems": stems, "limit": limit}
    found = await executor.fetch_list("find_files_by_words", params)
    return [(path, indexes) for path, indexes in found if path is not None]


async def find_by_outline(
    executor: Executor, namespace: str, outlines: str, paths: str, beginnings: Sequence[str], limit: int
) -> tuple[dict[str, list[int]], dict[str, list[int]]]:
    """Return at most `limit` paths of files for Lucene terms over outlines, and as many for terms over paths, each best
    first, with the indexes of those `beginnings` of words that the file's outline contains.
    """
    stems = [f" {beginning}" for beginning in beginnings]
    params = {"namespace": namespace, "words": paths, "outlines": outlines, "stems": stems, "limit": limit}
    found = await executor.fetch_list("find_files_by_outline", params)
    about = {path: told for path, by_outline, told in found if by_outline and path is not None}
    return about, {path: told for path, by_outline, told in found if not by_outline and path is not None}


async def chunks_containing(
    executor: Executor, where: FileFilter, needle: str, *, skip: int, limit: int
) -> list[ChunkText]:
    """Return parts of files that contain `needle` (case-folded), ignoring case, in index order."""
    params = _filter_params(where) | {"needle": needle, "skip": skip, "limit": limit}
    return _whole_chunks(await executor.fetch_list("chunks_containing", params))


async def chunks_of_files(
    executor: Executor, where: FileFilter, after: str, files: int
) -> tuple[list[ChunkText], str | None]:
    """Return the parts of the next `files` files after the path `after`, in order, and the path to continue after; None
    at the end.
    """
    params = _filter_params(where) | {"after": after, "limit": files}
    rows = await executor.fetch_list("chunks_of_files", params)
    paths = {path for _, path, *_ in rows}
    present = paths - {None}
    is_full = len(paths) == files or None in paths  # several that were deleted meanwhile count as one
    return _whole_chunks(rows), max(present, default=after) if is_full else None


async def chunks_at(executor: Executor, namespace: str, spans: Sequence[Lines]) -> list[ChunkText]:
    """Return parts of files that overlap these lines, by path and line."""
    rows = [{"path": span.path, "first_line": span.first_line, "last_line": span.last_line} for span in spans]
    return _whole_chunks(await executor.fetch_list("chunks_at", {"namespace": namespace, "rows": rows}))


async def find_symbols(executor: Executor, where: FileFilter, name: str, limit: int) -> list[Symbol]:
    """Return the definitions of `name`, ignoring case."""
    params = _filter_params(where) | {"symbol": name.casefold(), "limit": limit}
    return [Symbol(**row) for row in await executor.fetch_all("find_symbols", params)]


def _whole_chunks(rows: Sequence[Sequence[Any]]) -> list[ChunkText]:
    """Drop files without parts, and parts deleted while they were read: their properties are null."""
    return [ChunkText(*row) for row in rows if None not in row]


async def _store(transaction: Transaction, namespace: str, contents: Sequence[FileContent]) -> StoredContents:
    before = await _claim(transaction, namespace, [content.path for content in contents])
    present = [content for content in contents if content.path in before]
    added: list[Row] = []
    moved: list[Row] = []
    gone: list[str] = []
    for content in present:
        had = set(before[content.path])
        added += [_chunk_row(namespace, content, chunk) for chunk in content.chunks if chunk.uid not in had]
        moved += [_position(chunk) for chunk in content.chunks if chunk.uid in had]
        gone += had - {chunk.uid for chunk in content.chunks}
    held = await _forgotten(transaction, namespace, added)
    present = [_without(content, held) for content in present]
    added = [row for row in added if row["uid"] not in held]
    await _drop_chunks(transaction, namespace, gone)
    for statement, rows in (("put_chunks", added), ("move_chunks", moved)):
        if rows:
            await transaction.run(statement, {"namespace": namespace, "rows": rows})
    symbols = [_symbols_row(content) for content in present]
    await transaction.run("replace_symbols", {"namespace": namespace, "rows": symbols})
    finished = [_finished_row(content) for content in present]
    await transaction.run("finish_files", {"namespace": namespace, "rows": finished})
    _report(transaction, namespace, "changed", (content.path for content in present))
    await settle_citations(transaction, namespace, [content.path for content in present])
    return StoredContents(len(added), len(moved), len(gone), len(held))


def _report(transaction: Transaction, namespace: str, action: ItemAction, paths: Iterable[str]) -> None:
    transaction.changed(namespace, (Change(action, "file", path) for path in sorted(paths)))


async def _forgotten(transaction: Transaction, namespace: str, added: Sequence[Row]) -> set[str]:
    coming = [Said(row["uid"], Kind.FILE_CHUNK, (row["properties"]["text"],)) for row in added]
    return set(await hold_back(transaction, namespace, coming))


def _without(content: FileContent, held: set[str]) -> FileContent:
    """Return the contents without forgotten parts and the definitions in them."""
    gone = [chunk for chunk in content.chunks if chunk.uid in held]
    if not gone:
        return content
    left = [
        symbol
        for symbol in content.symbols
        if not any(chunk.start_line <= symbol.line <= chunk.end_line for chunk in gone)
    ]
    return replace(content, symbols=left, outline="")


async def _claim(transaction: Transaction, namespace: str, paths: Sequence[str]) -> dict[str, list[str]]:
    """Lock files until the transaction ends; returns the uids of their parts by path."""
    params = {"namespace": namespace, "paths": sorted(set(paths))}
    claimed = [row["path"] for row in await transaction.run("claim_files", params)]
    chunks: dict[str, list[str]] = {path: [] for path in claimed}
    for row in await transaction.run("list_chunks", {"namespace": namespace, "paths": claimed}):
        chunks[row["path"]].append(row["uid"])
    return chunks


async def _drop_chunks(transaction: Transaction, namespace: str, uids: Sequence[str]) -> None:
    if uids:
        await transaction.run("delete_items", {"namespace": namespace, "doomed": list(uids)})


def _known(row: Row) -> KnownFile:
    return KnownFile(**{**row, "root": row["root"] or "", "indexed_at": native(row["indexed_at"])})


def _filter_params(where: FileFilter) -> dict[str, Any]:
    return {
        "namespace": where.namespace,
        "languages": None if where.languages is None else list(where.languages),
        "included": None if where.included is None else list(where.included),
        "excluded": list(where.excluded),
    }


def _chunk_row(namespace: str, content: FileContent, chunk: NewChunk) -> Row:
    properties = {
        "kind": Kind.FILE_CHUNK.value,
        "name": chunk.name,
        "path": content.path,
        "language": content.language,
        "text": chunk.text,
        "search_text": chunk.search_text,
        "start_line": chunk.start_line,
        "end_line": chunk.end_line,
        "start_column": chunk.start_column,
        "tokens": item_tokens(namespace, Kind.FILE_CHUNK, None),
    }
    labels = [*(["CjkText"] if chunk.cjk else []), *(["PendingEmbedding"] if chunk.text.strip() else [])]
    return {"path": content.path, "uid": chunk.uid, "properties": properties, "labels": labels}


def _position(chunk: NewChunk) -> Row:
    return {"uid": chunk.uid, "start_line": chunk.start_line, "end_line": chunk.end_line, "name": chunk.name}


def _symbols_row(content: FileContent) -> Row:
    symbols = [
        {
            "name": symbol.name,
            "key": symbol.name.casefold(),
            "kind": symbol.kind,
            "line": symbol.line,
            "end_line": symbol.end_line,
            "scope": symbol.scope,
            "language": content.language,
        }
        for symbol in content.symbols
    ]
    return {"path": content.path, "symbols": symbols}


def _finished_row(content: FileContent) -> Row:
    properties = {
        "sha256": content.sha256,
        "size": content.size,
        "mtime_ns": content.mtime_ns,
        "lines": content.lines,
        "unread": content.unread,
        "outline": content.outline,
    }
    return {"path": content.path, "properties": properties}


@dataclass(frozen=True, slots=True)
class Named:
    """A reference to look up: a file by the keys of its name and path, at a line, or a definition; "" for unused
    fields.
    """

    name: str
    suffix: str
    line: int
    symbol: str


@dataclass(frozen=True, slots=True)
class NamedChunk:
    """The part of a file, and the line in it, that reference number `index` means."""

    index: int
    uid: str
    version: int
    path: str
    line: int
    start_line: int
    text: str = field(repr=False)

    @property
    def quote(self) -> str:
        """The referenced line."""
        lines = self.text.split("\n")
        return lines[min(max(self.line - self.start_line, 0), len(lines) - 1)]


async def chunks_named(executor: Executor, namespace: str, wanted: Sequence[Named]) -> list[NamedChunk]:
    """Return the part of a file that each of `wanted` means; none where several files or definitions match."""
    rows = [
        {
            "index": index,
            "name": named.name,
            "suffix": named.suffix,
            "line": named.line,
            "symbol": named.symbol,
            "key": named.symbol.casefold(),
        }
        for index, named in enumerate(wanted)
    ]
    if not rows:
        return []
    found = await executor.fetch_all("chunks_named", {"namespace": namespace, "rows": rows})
    return [NamedChunk(**row) for row in found]
