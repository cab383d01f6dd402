"""Writes what `graph.exporting` has read, chunk by chunk, one transaction each.

Nothing that exists is changed: an item whose uid exists stays, and what the file attaches to its namesake is skipped.
During an import the namespace carries a mark with the number of settled rows, so that an interrupted import resumes
where it stopped, and nobody mistakes half a file for the whole.
"""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

from graph.edges import EDGE
from graph.errors import LeaseLost
from graph.executor import Executor, Row, Transaction
from graph.exporting import Section
from graph.portable import properties_from_json, take_moments, vector_from_json
from graph.support import miss_forgotten
from graph.tokens import item_tokens, token
from graph.tombstones import Said, blank_outlines, hold_back, mark_resembling, said_in, write_tombstones
from graph.types import FOREVER, UNKNOWN_TIME, Change, EdgeAction, Kind

_LABELS: Mapping[str, str] = MappingProxyType(
    {Kind.MESSAGE: "Message", Kind.FACT: "Fact", Kind.MEMORY: "Memory", Kind.FILE_CHUNK: "FileChunk"}
)
_Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Import:
    """An import in progress: `owner` names its file, `done` of that file's rows for `namespace` are settled."""

    namespace: str
    owner: str
    done: int


@dataclass(frozen=True, slots=True)
class Written:
    """Outcome of a chunk: the number of rows created, and the uids of items that had been forgotten; `resembling` items
    were created, but may reword something forgotten.
    """

    created: int
    held_back: Sequence[str] = ()
    resembling: Sequence[str] = ()


async def begin_import(executor: Executor, namespace: str, owner: str) -> Import:
    """Mark `namespace`, or return the import in progress there, which may be another file's."""
    (row,) = await executor.write("begin_import", {"namespace": namespace, "owner": owner})
    return Import(namespace, row["owner"], row["done"])


async def unfinished_import(executor: Executor, namespace: str) -> Import | None:
    """Return the import in progress or interrupted in `namespace`, or None."""
    row = await executor.fetch_one("read_import", {"namespace": namespace})
    return None if row is None else Import(namespace, row["owner"], row["done"])


async def unfinished_imports(executor: Executor) -> list[str]:
    """Return the namespaces that hold only part of a file."""
    return [row["namespace"] for row in await executor.fetch_all("list_imports")]


async def end_import(executor: Executor, namespace: str) -> None:
    """Remove the mark."""
    await executor.write("end_import", {"namespace": namespace})


async def write_chunk(
    executor: Executor, job: Import, section: Section, rows: _Rows, done: int, *, even_if_forgotten: bool = False
) -> Written:
    """Create those of `rows` that do not exist, and record that `done` rows are settled. Forgotten items are held back
    unless `even_if_forgotten`.

    Raises LeaseLost if another file's import has taken over, ValueError for a value that no property can hold.
    """
    write = partial(_write_items, lift=even_if_forgotten) if section == "item" else _WRITERS[section]

    async def work(transaction: Transaction) -> Written:
        mark = {"namespace": job.namespace, "owner": job.owner, "done": done}
        if not await transaction.run("advance_import", mark):
            raise LeaseLost(f"another import into {job.namespace!r} has taken over")
        return await write(transaction, job.namespace, rows) if rows else Written(0)

    return await executor.transaction("write_chunk", work)


async def clear_empty_groups(executor: Executor, namespace: str) -> None:
    """Remove conversations and people whose items were all held back."""
    await executor.write("delete_empty_groups", {"namespace": namespace})


async def _write_simple(statement: str, transaction: Transaction, namespace: str, rows: _Rows) -> Written:
    written = [{**row, "properties": properties_from_json(row["properties"])} for row in rows]
    (row,) = await transaction.run(statement, {"namespace": namespace, "rows": written})
    return Written(row["created"])


async def _write_tombstones(transaction: Transaction, namespace: str, rows: _Rows) -> Written:
    return Written(await write_tombstones(transaction, namespace, rows))


async def _write_files(transaction: Transaction, namespace: str, rows: _Rows) -> Written:
    written = [
        {
            "path": row["path"],
            "properties": {**properties_from_json(row["properties"]), "tokens": token("namespace", namespace)},
            "symbols": [properties_from_json(symbol) for symbol in row["symbols"]],
        }
        for row in rows
    ]
    (row,) = await transaction.run("import_files", {"namespace": namespace, "rows": written})
    transaction.changed(namespace, (Change("added", "file", path) for path in row["created"]))
    return Written(len(row["created"]))


async def _write_items(transaction: Transaction, namespace: str, rows: _Rows, *, lift: bool = False) -> Written:
    uids = [row["uid"] for row in rows]
    existing = {row["uid"] for row in await transaction.run("import_known", {"namespace": namespace, "uids": uids})}
    new: _Rows = [row for row in rows if row["uid"] not in existing]
    held = await hold_back(transaction, namespace, map(_said, new), lift=lift)
    if held:
        gone, new = _parted(new, held)
        lines = [
            {"path": row["file"], **{name: row["properties"][name] for name in ("start_line", "end_line")}}
            for row in gone
            if row["file"]
        ]
        await blank_outlines(transaction, namespace, lines)
    await transaction.run("import_items", {"namespace": namespace, "rows": [_item(namespace, row) for row in new]})
    changes = (Change("added", row["kind"], row["uid"]) for row in new if row["kind"] != Kind.FILE_CHUNK)
    transaction.changed(namespace, changes)
    if parts := [_parts(row) for row in new if row["revisions"] or row["citations"]]:
        await transaction.run("import_parts", {"namespace": namespace, "rows": parts})
    await _write_vectors(transaction, namespace, new)
    await miss_forgotten(
        transaction, namespace, {row["uid"]: row["properties"].get("evidence_refs", ()) for row in new}
    )
    if refused := [{"uid": row["uid"], **refusal} for row in new for refusal in row["refused"]]:
        await transaction.run("import_refusals", {"namespace": namespace, "rows": refused})
    # The mark of an imported item may refer to a tombstone that is imported later.
    unmarked = [] if lift else [_said(row) for row in new if "resembles" not in row["properties"]]
    return Written(len(new), held, await mark_resembling(transaction, namespace, unmarked))


def _said(row: Mapping[str, Any]) -> Said:
    return said_in({**row["properties"], "uid": row["uid"], "kind": row["kind"]})


def _parted(rows: _Rows, uids: Sequence[str]) -> tuple[_Rows, _Rows]:
    """Return the rows of these uids, and the others."""
    those = set(uids)
    return [row for row in rows if row["uid"] in those], [row for row in rows if row["uid"] not in those]


async def _write_vectors(transaction: Transaction, namespace: str, rows: _Rows) -> None:
    for space in sorted({vector["space"] for row in rows for vector in row["vectors"]}):
        written = [{"uid": row["uid"], "vectors": passages} for row in rows if (passages := _passages(row, space))]
        params = {"space": space, "rows": written, "unknown_time": UNKNOWN_TIME, "forever": FOREVER}
        await transaction.run("import_vectors", {"namespace": namespace, **params}, space=space)


async def _write_edges(transaction: Transaction, namespace: str, rows: _Rows) -> Written:
    written = [{**row, "properties": properties_from_json(row["properties"])} for row in rows]
    if ids := [row["properties"]["edge_id"] for row in written if "edge_id" in row["properties"]]:
        found = await transaction.run("import_known_edges", {"namespace": namespace, "ids": ids})
        existing = {row["id"] for row in found}
        written = [row for row in written if row["properties"].get("edge_id") not in existing]
    (row,) = await transaction.run("import_edges", {"namespace": namespace, "rows": written})
    transaction.changed(namespace, map(_edge_change, row["edges"]))
    return Written(row["created"])


_WRITERS: Mapping[Section, Callable[[Transaction, str, _Rows], Coroutine[Any, Any, Written]]] = MappingProxyType(
    {
        "conversation": partial(_write_simple, "import_conversations"),
        "person": partial(_write_simple, "import_people"),
        "file": _write_files,
        "item": _write_items,
        "sweep": partial(_write_simple, "import_sweeps"),
        "change": partial(_write_simple, "import_changes"),
        "edge": _write_edges,
        "tombstone": _write_tombstones,
    }
)


def _edge_change(edge: Row) -> Change:
    action: EdgeAction = "proposed" if edge["label"] == "PROPOSED" else "added"
    return Change(action, EDGE, edge["edge_id"], edge["type"], edge["source"], edge["target"])


def _item(namespace: str, row: Mapping[str, Any]) -> Row:
    kind, (plain, moments) = row["kind"], take_moments(row["properties"])
    properties = properties_from_json(plain)
    properties |= {"kind": kind, "tokens": item_tokens(namespace, kind, properties.get("author_name"))}
    # A blank part of a file has nothing to encode.
    waits = kind != Kind.FILE_CHUNK or bool(str(properties.get("text", "")).strip())
    labels = [_LABELS[kind], *row["labels"], *(["PendingEmbedding"] if waits else [])]
    keys = {name: row[name] for name in ("conversation", "person", "file")}
    return {"uid": row["uid"], "labels": labels, "properties": properties, "moments": moments, **keys}


def _parts(row: Mapping[str, Any]) -> Row:
    parts = {
        name: [properties_from_json(properties) for properties in row[name]] for name in ("revisions", "citations")
    }
    return {"uid": row["uid"], **parts}


def _passages(row: Mapping[str, Any], space: str) -> list[Row]:
    return [
        {"role": vector["role"], "ordinal": vector["ordinal"], "vector": vector_from_json(vector["vector"])}
        for vector in row["vectors"]
        if vector["space"] == space
    ]
