"""Reads whole namespaces for a file: pages of JSON rows, always in the same order.

Neo4j has no snapshots: each page sees what is committed when it is read. So a file is taken at a *moment*. Whatever was
created later is left out, with everything that leads to it; everything that existed and stayed unchanged is included.
`marks`, taken before and after, show whether something was changed or deleted meanwhile.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Literal

from graph.executor import Executor, Row
from graph.portable import properties_to_json, vector_to_json
from graph.tombstones import read_salts

Section = Literal["conversation", "person", "file", "item", "sweep", "change", "edge", "tombstone"]
Page = tuple[Section, list[Row]]

_POLL_S = 0.05
# The managed server ends a transaction after 60 s.
_OLDER_TRANSACTIONS_S = 60.0
_FIRST_LIMIT = 200
_MOST_ROWS = 2_000
# Text per page; the driver and the server hold a few times as much.
_PAGE_CHARS = 2_000_000
_FIRST = ""


@dataclass(frozen=True, slots=True)
class Marks:
    """Contents of a namespace before a moment: items by kind, and figures that differ after every change."""

    by_kind: Mapping[str, int]
    figures: Mapping[str, Sequence[Any]]


async def settled_moment(executor: Executor) -> Any:
    """Return a server time such that everything created before it is committed or never will be.

    Waits for the transactions running at that time, for at most the minute that the managed server gives them.
    """
    row = await executor.fetch_one("server_clock")
    moment = row["now"] if row else None
    older = await _transactions(executor)
    give_up_at = time.monotonic() + _OLDER_TRANSACTIONS_S
    while older & await _transactions(executor) and time.monotonic() < give_up_at:
        await asyncio.sleep(_POLL_S)
    return moment


async def all_namespaces(executor: Executor) -> list[str]:
    """Return every namespace that any node names, with or without items."""
    return [row["namespace"] for row in await executor.fetch_all("export_namespaces")]


async def read_marks(executor: Executor, namespace: str, moment: Any) -> Marks:
    """Return the marks of `namespace` before `moment`."""
    rows = await executor.fetch_all("export_marks", {"namespace": namespace, "made_before": moment})
    # An item deleted while it is counted has no kind.
    counted = sorted((row for row in rows if row["part"] is not None), key=itemgetter("part"))
    return Marks(
        by_kind={row["part"]: row["items"] for row in counted if row["items"] is not None},
        figures={row["part"]: row["marks"] for row in counted},
    )


async def spaces_of(executor: Executor, namespace: str) -> list[Row]:
    """Return the embedding spaces in which `namespace` has vectors, with the properties that identify each anywhere."""
    rows = await executor.fetch_all("export_spaces", {"namespace": namespace})
    return [row["properties"] for row in rows]


async def pages(
    executor: Executor, namespace: str, moment: Any, *, vectors: bool, tombstones: bool
) -> AsyncIterator[Page]:
    """Yield everything that `namespace` held before `moment`: nodes before the edges between them, and last the
    tombstones, whatever their age.
    """
    where = {"namespace": namespace, "made_before": moment}
    plain: tuple[tuple[Section, str, str, Callable[[Row], Row]], ...] = (
        ("conversation", "export_conversations", "id", _identified),
        ("person", "export_people", "id", _identified),
        ("file", "export_files", "path", _file),
    )
    for section, statement, key, shape in plain:
        async for rows in _paged(executor, statement, where, key):
            yield section, [shape(row) for row in rows]
    async for rows in _paged(executor, "export_items", where | {"with_vectors": vectors}, "uid"):
        yield "item", [_item(row) for row in rows]
    runs: list[str] = []
    async for rows in _paged(executor, "export_sweeps", where, "id"):
        runs += [row["id"] for row in rows]
        yield "sweep", [_identified(row) for row in rows]
    for run in runs:
        async for rows in _changes(executor, namespace, run):
            yield "change", rows
    async for rows in _paged(executor, "export_edges", where, "source"):
        yield "edge", [edge for row in rows for edge in _edges(row)]
    salts = await read_salts(executor, namespace) if tombstones else []
    if salts:
        async for rows in _paged(executor, "export_tombstones", {"namespace": namespace}, "identity"):
            yield "tombstone", [_tombstone(row, salts) for row in rows]


async def _transactions(executor: Executor) -> set[str]:
    return {row["id"] for row in await executor.fetch_all("running_transactions")}


async def _paged(executor: Executor, statement: str, params: Mapping[str, Any], key: str) -> AsyncIterator[list[Row]]:
    """Yield the pages of a statement in the order of `key`, each as large as memory safely allows."""
    after, limit = _FIRST, _FIRST_LIMIT
    while rows := await executor.fetch_all(statement, {**params, "after": after, "limit": limit}):
        yield rows
        if len(rows) < limit:
            return
        after = rows[-1][key]
        limit = _next_limit(len(rows), sum(map(_chars, rows)))


def _next_limit(rows: int, chars: int) -> int:
    """Return the number of rows that would fill a page if they are like the last ones, growing only gradually."""
    fitting = rows * _PAGE_CHARS // max(1, chars)
    return max(1, min(fitting, 2 * rows, _MOST_ROWS))


def _chars(row: Row) -> int:
    properties = dict(row.get("properties") or ())
    return sum(len(value) for value in properties.values() if isinstance(value, str))


async def _changes(executor: Executor, namespace: str, sweep_id: str) -> AsyncIterator[list[Row]]:
    after = -1
    while True:
        params = {"namespace": namespace, "sweep_id": sweep_id, "after_seq": after, "states": None, "limit": _MOST_ROWS}
        rows = await executor.fetch_all("sweep_changes", params)
        if not rows:
            return
        yield [_change(sweep_id, row) for row in rows]
        after = rows[-1]["properties"]["seq"]


def _identified(row: Row) -> Row:
    return {"id": row["id"], "properties": properties_to_json(row["properties"])}


def _file(row: Row) -> Row:
    symbols = [properties_to_json(symbol) for symbol in row["symbols"]]
    return {"path": row["path"], "properties": properties_to_json(row["properties"]), "symbols": symbols}


def _item(row: Row) -> Row:
    labels = [label for label, there in (("CjkText", row["cjk"]), ("UnresolvedReferences", row["unresolved"])) if there]
    vectors = [vector | {"vector": vector_to_json(vector["vector"])} for vector in row["vectors"]]
    parts: Row = {
        **{name: row[name] for name in ("conversation", "person", "file")},
        "labels": labels,
        "citations": [properties_to_json(citation) for citation in row["citations"]],
        "revisions": [properties_to_json(revision) for revision in row["revisions"]],
        "vectors": vectors,
        "refused": [
            {name: value for name, value in refusal.items() if value is not None} for refusal in row["refused"]
        ],
    }
    own = {"uid": row["uid"], "kind": row["kind"], "properties": properties_to_json(dict(row["properties"]))}
    return own | {name: part for name, part in parts.items() if part}


def _tombstone(row: Row, salts: Sequence[str]) -> Row:
    return {**row, "properties": properties_to_json(row["properties"]), "salts": salts}


def _change(sweep_id: str, row: Row) -> Row:
    kept = {name: value for name, value in row["properties"].items() if name not in ("namespace", "sweep_id")}
    return {"sweep": sweep_id, "uid": row["uid"], "properties": properties_to_json(kept)}


def _edges(row: Row) -> list[Row]:
    edges = [
        {
            "source": row["source"],
            "type": edge["type"],
            "target": edge["target"],
            "properties": properties_to_json(edge["properties"]),
        }
        for edge in row["edges"]
    ]
    return sorted(edges, key=_edge_order)


def _edge_order(edge: Row) -> tuple[str, str, str]:
    return edge["type"], edge["target"], repr(sorted(edge["properties"].items()))
