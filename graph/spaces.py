"""Embedding spaces: one label and one vector index each, so that vectors of two models never meet."""

import asyncio
from collections.abc import Sequence

from graph.errors import SchemaMismatch, SpaceMismatch
from graph.executor import Executor, Row, Transaction
from graph.types import FOREVER, UNKNOWN_TIME, ItemVectors, Kind, NewSpace, PendingItem, SpaceRecord

_POLL_S = 0.2


async def ensure_space(executor: Executor, space: NewSpace) -> SpaceRecord:
    """Record `space` and its index unless they exist. The very first space becomes the active one."""
    await executor.run_schema("create_space_index", space=space.space, dimension=space.dimension)
    rows = await executor.write(
        "put_space",
        {
            "space": space.space,
            "model": space.model,
            "dimension": space.dimension,
            "text_form": space.text_form,
            "normalised": space.normalised,
            "revision": space.revision,
        },
    )
    await await_index(executor, space.space)
    languages = rows[0]["languages"]
    return SpaceRecord(
        space=space.space,
        model=space.model,
        dimension=space.dimension,
        active=bool(rows[0]["active"]),
        languages=None if languages is None else frozenset(languages),
    )


async def await_index(executor: Executor, space: str, *, timeout_s: float = 300.0) -> None:
    """Wait until the space's index is ONLINE. Raises SchemaMismatch when it failed or the time is up."""
    async with asyncio.timeout(timeout_s):
        while (state := await index_state(executor, space)) == "POPULATING":
            await asyncio.sleep(_POLL_S)
    if state != "ONLINE":
        raise SchemaMismatch(f"vector index embedding_{space} is {state}; run `librarian embeddings compact`")


async def index_state(executor: Executor, space: str) -> str:
    """ONLINE, POPULATING, FAILED, or MISSING."""
    row = await executor.fetch_one("space_index_state", {"index": f"embedding_{space}"})
    return str(row["state"]) if row else "MISSING"


async def set_languages(executor: Executor, space: str, languages: frozenset[str]) -> None:
    """Record which languages the space's encoder tells apart."""
    await executor.write("put_space_languages", {"space": space, "languages": sorted(languages)})


async def list_spaces(executor: Executor) -> list[SpaceRecord]:
    """All recorded spaces, oldest first."""
    rows = await executor.fetch_all("list_spaces")
    return [
        SpaceRecord(
            space=row["space"],
            model=row["model"],
            dimension=row["dimension"],
            active=row["active"],
            languages=None if row["languages"] is None else frozenset(row["languages"]),
        )
        for row in rows
    ]


async def activate(executor: Executor, space: str) -> None:
    """Make `space` the active one in one step; items that still lack a vector in it become pending."""

    async def work(transaction: Transaction) -> None:
        await transaction.run("activate_space", {"space": space})
        await transaction.run("mark_pending", {}, space=space)

    await executor.transaction("activate_space", work)


async def compact(executor: Executor, space: str, dimension: int) -> None:
    """Build the space's index anew at once: one grown by many small commits is up to twice as slow (measured)."""
    await executor.run_schema("drop_space_index", space=space)
    await executor.run_schema("create_space_index", space=space, dimension=dimension)
    await await_index(executor, space, timeout_s=3600.0)


async def count_vectors(executor: Executor, space: str) -> int:
    """Vectors stored in `space`."""
    row = await executor.fetch_one("count_vectors", space=space)
    return int(row["vectors"]) if row else 0


async def count_pending(executor: Executor) -> int:
    """Items of all namespaces that lack a vector in the active space."""
    row = await executor.fetch_one("count_pending")
    return int(row["pending"]) if row else 0


async def next_pending(executor: Executor, space: str, limit: int) -> list[PendingItem]:
    """Up to `limit` items that lack a vector in `space`; none when it is not the active one (any more)."""
    return [_pending(row) for row in await executor.fetch_all("next_pending", {"space": space, "limit": limit})]


async def next_without_vector(executor: Executor, space: str, limit: int) -> list[PendingItem]:
    """Up to `limit` items that lack a vector in `space`, active or not."""
    return [_pending(row) for row in await executor.fetch_all("next_without_vector", {"limit": limit}, space=space)]


async def put_vectors(executor: Executor, space: SpaceRecord, items: Sequence[ItemVectors]) -> int:
    """Store the passage vectors of items; one that changed meanwhile is left pending. Returns how many were
    stored.

    Raises SpaceMismatch when a vector has another dimension than the space: Neo4j would store it and never find it.
    """
    if any(len(vector) != space.dimension for item in items for vector in item.vectors):
        raise SpaceMismatch(f"space {space.space} holds vectors of {space.dimension} numbers")
    rows = [
        {
            "namespace": item.namespace,
            "uid": item.uid,
            "version": item.version,
            "passages": [{"ordinal": i, "vector": list(vector)} for i, vector in enumerate(item.vectors)],
        }
        for item in items
    ]
    params = {"space": space.space, "unknown_time": UNKNOWN_TIME, "forever": FOREVER, "rows": rows}
    result = await executor.write("put_embeddings", params, space=space.space)
    return int(result[0]["stored"]) if result else 0


async def refuse_vector(executor: Executor, namespace: str, uid: str) -> None:
    """Stop trying to encode an item; it stays findable by keyword, and becomes pending again when its text changes."""
    await executor.write("refuse_vector", {"namespace": namespace, "uid": uid})


def _pending(row: Row) -> PendingItem:
    return PendingItem(
        namespace=row["namespace"],
        uid=row["uid"],
        kind=Kind(row["kind"]),
        version=row["version"],
        text=row["text"],
        caption=row["caption"],
        author_name=row["author_name"],
    )
