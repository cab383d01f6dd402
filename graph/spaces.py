"""Embedding spaces: one label and one vector index each, so that vectors of different models never mix."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from graph.errors import SchemaMismatch, SpaceIncomplete, SpaceMismatch
from graph.executor import Executor, Row, Transaction
from graph.types import (
    FOREVER,
    UNKNOWN_TIME,
    Calibration,
    ItemVectors,
    Kind,
    Lacking,
    NewSpace,
    Noise,
    PendingItem,
    Refusal,
    SpaceRecord,
    native,
)

_POLL_S = 0.2
_BUILT_WITHIN_S = 3600.0
# A sample is drawn from this many times its size: it is complete for a script that makes up a twentieth of a large
# space.
_DRAWN_FROM = 20
_DELETED_AT_ONCE = 5_000


async def ensure_space(executor: Executor, space: NewSpace) -> SpaceRecord:
    """Record `space` and its index unless they exist. The very first space becomes active."""
    # At a start, two reads at once cost far less than a schema command and a write that change nothing.
    known, state = await asyncio.gather(list_spaces(executor), index_state(executor, space.space))
    record = next((record for record in known if record.space == space.space), None)
    if record is not None and state == "ONLINE":
        return record
    await executor.run_schema("create_space_index", space=space.space, dimension=space.dimension)
    record = await _put_space(executor, space)
    await await_index(executor, space.space)
    return record


@asynccontextmanager
async def built_at_once(executor: Executor, spaces: Sequence[NewSpace]) -> AsyncIterator[None]:
    """Record `spaces` for a block that fills them; empty ones get their index when the block ends, however it ends:
    building it at once takes a fraction of the time of growing it with every commit.

    Until then no search finds their vectors. If the process is killed, the next `ensure_space` creates the index.
    """
    for space in spaces:
        if not await count_vectors(executor, space.space):
            await executor.run_schema("drop_space_index", space=space.space)
        await _put_space(executor, space)
    try:
        yield
    finally:
        for space in spaces:
            await executor.run_schema("create_space_index", space=space.space, dimension=space.dimension)
    for space in spaces:
        await await_index(executor, space.space, timeout_s=_BUILT_WITHIN_S)


async def await_index(executor: Executor, space: str, *, timeout_s: float = 300.0) -> None:
    """Wait until the space's index is ONLINE. Raises SchemaMismatch when it failed or the time is up."""
    async with asyncio.timeout(timeout_s):
        while (state := await index_state(executor, space)) == "POPULATING":
            await asyncio.sleep(_POLL_S)
    if state != "ONLINE":
        raise SchemaMismatch(f"vector index embedding_{space} is {state}; run `librarian embeddings compact`")


async def index_state(executor: Executor, space: str) -> str:
    """Return ONLINE, POPULATING, FAILED, or MISSING."""
    row = await executor.fetch_one("space_index_state", {"index": f"embedding_{space}"})
    return str(row["state"]) if row else "MISSING"


async def set_languages(executor: Executor, space: str, languages: frozenset[str]) -> None:
    """Record the languages that the space's encoder tells apart."""
    await executor.write("put_space_languages", {"space": space, "languages": sorted(languages)})


async def list_spaces(executor: Executor) -> list[SpaceRecord]:
    """Return all recorded spaces, oldest first."""
    return [_record(row["properties"]) for row in await executor.fetch_all("list_spaces")]


async def sample_noise(
    executor: Executor, space: SpaceRecord, queries: Sequence[Sequence[float]], *, cjk: bool, limit: int
) -> Noise | None:
    """Return how similar `queries` (vectors of the space) are to at most `limit` random vectors of all namespaces.

    These belong to items whose text has CJK letters, or to the others; None if there are none. In a large space the
    sample is drawn from some thousands, so it may be smaller for a script that is rare there.
    """
    vectors = await count_vectors(executor, space.space)
    share = min(1.0, limit * _DRAWN_FROM / max(1, vectors))
    params = {"queries": [list(query) for query in queries], "cjk": cjk, "share": share, "limit": limit}
    row = await executor.fetch_one("sample_noise", params, space=space.space, dimension=space.dimension)
    return Noise(row["mean"], row["deviation"], row["sampled"]) if row and row["sampled"] else None


async def put_calibrations(
    executor: Executor, space: str, noise: Mapping[str, Noise], *, vectors: int, version: int
) -> SpaceRecord:
    """Record the noise of a space by language, measured when it held `vectors` vectors; replaces earlier records."""
    rows = await executor.write(
        "put_calibrations",
        {
            "space": space,
            "languages": list(noise),
            "means": [measured.mean for measured in noise.values()],
            "deviations": [measured.deviation for measured in noise.values()],
            "samples": [measured.sampled for measured in noise.values()],
            "vectors": vectors,
            "version": version,
        },
    )
    return _record(rows[0]["properties"])


async def activate(executor: Executor, space: str, *, lacking: int | None = None) -> int:
    """Make `space` the active one in one step; items without a vector in it become pending.

    Returns their number. Raises SpaceIncomplete, and changes nothing, if it exceeds `lacking` (None: no limit).
    """

    async def work(transaction: Transaction) -> int:
        await transaction.run("activate_space", {"space": space})
        (row,) = await transaction.run("mark_pending", {"space": space}, space=space)
        if lacking is not None and row["pending"] > lacking:
            raise SpaceIncomplete(f"{row['pending']} items have no vector in space {space} yet")
        return int(row["pending"])

    return await executor.transaction("activate_space", work)


async def measure_lacking(executor: Executor, space: str) -> Lacking:
    """Return the amount of items without a vector in `space`, except those that its encoder refused."""
    row = await executor.fetch_one("measure_without_vector", {"space": space}, space=space)
    return Lacking(row["items"], row["characters"]) if row else Lacking(0, 0)


async def drop_space(executor: Executor, space: str) -> int:
    """Delete a space with its vectors and its index, unless it is active; returns the number of vectors.

    After an interruption it is still recorded and can be dropped again.
    """
    vectors = 0
    while rows := await executor.write("drop_vectors", {"space": space, "limit": _DELETED_AT_ONCE}, space=space):
        vectors += rows[0]["deleted"]
        if not rows[0]["deleted"]:
            break
    await executor.run_schema("drop_space_index", space=space)
    await executor.write("forget_space", {"space": space})
    return vectors


async def compact(executor: Executor, space: str, dimension: int) -> None:
    """Rebuild the space's index in one go: one grown by many small commits is up to twice as slow (measured)."""
    await executor.run_schema("drop_space_index", space=space)
    await executor.run_schema("create_space_index", space=space, dimension=dimension)
    await await_index(executor, space, timeout_s=_BUILT_WITHIN_S)


async def count_vectors(executor: Executor, space: str) -> int:
    """Return the number of vectors stored in `space`."""
    row = await executor.fetch_one("count_vectors", space=space)
    return int(row["vectors"]) if row else 0


async def count_pending(executor: Executor) -> int:
    """Return the number of items, in all namespaces, that lack a vector in the active space."""
    row = await executor.fetch_one("count_pending")
    return int(row["pending"]) if row else 0


async def next_pending(executor: Executor, space: str, limit: int) -> list[PendingItem]:
    """Return up to `limit` items that lack a vector in `space`; none unless it is the active one."""
    return [_pending(row) for row in await executor.fetch_all("next_pending", {"space": space, "limit": limit})]


async def next_without_vector(executor: Executor, space: str, limit: int) -> list[PendingItem]:
    """Return up to `limit` items that lack a vector in `space`, active or not."""
    rows = await executor.fetch_all("next_without_vector", {"space": space, "limit": limit}, space=space)
    return [_pending(row) for row in rows]


async def put_vectors(executor: Executor, space: SpaceRecord, items: Sequence[ItemVectors]) -> int:
    """Store the passage vectors of items; items changed meanwhile stay pending. Returns how many were stored.

    Raises SpaceMismatch for a vector of another dimension, which Neo4j would store and never find.
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


async def refuse_vectors(executor: Executor, space: str, refusals: Sequence[Refusal]) -> None:
    """Stop trying to encode items for `space`; other spaces may accept them. They remain findable by keyword, and are
    tried again after a change.
    """
    rows = [
        {
            "namespace": refusal.item.namespace,
            "uid": refusal.item.uid,
            "version": refusal.item.version,
            "language": refusal.language,
        }
        for refusal in refusals
    ]
    if rows:
        await executor.write("refuse_vectors", {"space": space, "rows": rows})


async def count_refused(executor: Executor, space: str) -> dict[str | None, int]:
    """Return how many items the encoder of `space` refused, by the language it does not read, most frequent first;
    None: for another reason.
    """
    rows = await executor.fetch_all("count_refused", {"space": space})
    return {row["language"]: row["items"] for row in rows}


async def _put_space(executor: Executor, space: NewSpace) -> SpaceRecord:
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
    return _record(rows[0]["properties"])


def _record(properties: Mapping[str, Any]) -> SpaceRecord:
    languages = properties.get("languages")
    return SpaceRecord(
        space=properties["space"],
        model=properties["model"],
        dimension=properties["dimension"],
        active=properties["active"],
        languages=None if languages is None else frozenset(languages),
        calibrations=_calibrations(properties),
        left_at=native(properties.get("left_at")),
    )


def _calibrations(properties: Mapping[str, Any]) -> dict[str, Calibration]:
    measured = zip(
        properties.get("calibration_languages", ()),
        properties.get("calibration_means", ()),
        properties.get("calibration_deviations", ()),
        properties.get("calibration_samples", ()),
        strict=True,
    )
    return {
        language: Calibration(
            mean=mean,
            deviation=deviation,
            sampled=sampled,
            vectors=properties["calibration_vectors"],
            version=properties["calibration_version"],
            made_at=native(properties["calibrated_at"]),
        )
        for language, mean, deviation, sampled in measured
    }


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
