"""Embedding spaces: one label and one vector index each, so that vectors of two models never meet."""

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
# A sample is drawn from so many times its size: of a script that makes up a twentieth of a large space it is whole.
_DRAWN_FROM = 20
_DELETED_AT_ONCE = 5_000


async def ensure_space(executor: Executor, space: NewSpace) -> SpaceRecord:
    """Record `space` and its index unless they exist. The very first space becomes the active one."""
    await executor.run_schema("create_space_index", space=space.space, dimension=space.dimension)
    record = await _put_space(executor, space)
    await await_index(executor, space.space)
    return record


@asynccontextmanager
async def built_at_once(executor: Executor, spaces: Sequence[NewSpace]) -> AsyncIterator[None]:
    """Record `spaces` for a block that fills them; those that hold no vector yet get their index at its end, however it
    ends: built at once it takes a fraction of the time that it takes to grow with every commit.

    Until then no search finds their vectors. Where the process is killed, whoever ensures the space makes its index.
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
    """ONLINE, POPULATING, FAILED, or MISSING."""
    row = await executor.fetch_one("space_index_state", {"index": f"embedding_{space}"})
    return str(row["state"]) if row else "MISSING"


async def set_languages(executor: Executor, space: str, languages: frozenset[str]) -> None:
    """Record which languages the space's encoder tells apart."""
    await executor.write("put_space_languages", {"space": space, "languages": sorted(languages)})


async def list_spaces(executor: Executor) -> list[SpaceRecord]:
    """Return all recorded spaces, oldest first."""
    return [_record(row["properties"]) for row in await executor.fetch_all("list_spaces")]


async def sample_noise(
    executor: Executor, space: SpaceRecord, queries: Sequence[Sequence[float]], *, cjk: bool, limit: int
) -> Noise | None:
    """Return how similar `queries` (vectors of the space) are to at most `limit` random vectors of all namespaces.

    Of items whose text holds CJK letters, or of the others; None when there is no such vector. In a large space the
    sample is drawn from some thousands, so that of a script which is rare there it may be smaller.
    """
    vectors = await count_vectors(executor, space.space)
    share = min(1.0, limit * _DRAWN_FROM / max(1, vectors))
    params = {"queries": [list(query) for query in queries], "cjk": cjk, "share": share, "limit": limit}
    row = await executor.fetch_one("sample_noise", params, space=space.space, dimension=space.dimension)
    return Noise(row["mean"], row["deviation"], row["sampled"]) if row and row["sampled"] else None


async def put_calibrations(
    executor: Executor, space: str, noise: Mapping[str, Noise], *, vectors: int, version: int
) -> SpaceRecord:
    """Record the noise of a space by language, measured when it held `vectors`; replaces all that was recorded."""
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
    """Make `space` the active one in one step; items that still lack a vector in it become pending.

    Returns how many do. Raises SpaceIncomplete, and changes nothing, when that are more than `lacking` (None: any
    number will do).
    """

    async def work(transaction: Transaction) -> int:
        await transaction.run("activate_space", {"space": space})
        (row,) = await transaction.run("mark_pending", {"space": space}, space=space)
        if lacking is not None and row["pending"] > lacking:
            raise SpaceIncomplete(f"{row['pending']} items have no vector in space {space} yet")
        return int(row["pending"])

    return await executor.transaction("activate_space", work)


async def measure_lacking(executor: Executor, space: str) -> Lacking:
    """Return what has no vector in `space`, except what its encoder refused."""
    row = await executor.fetch_one("measure_without_vector", {"space": space}, space=space)
    return Lacking(row["items"], row["characters"]) if row else Lacking(0, 0)


async def drop_space(executor: Executor, space: str) -> int:
    """Delete a space with its vectors and its index; returns the number of vectors. The active one stays whole.

    Interrupted, it is still recorded and can be dropped again.
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
    """Build the space's index anew at once: one grown by many small commits is up to twice as slow (measured)."""
    await executor.run_schema("drop_space_index", space=space)
    await executor.run_schema("create_space_index", space=space, dimension=dimension)
    await await_index(executor, space, timeout_s=_BUILT_WITHIN_S)


async def count_vectors(executor: Executor, space: str) -> int:
    """Vectors stored in `space`."""
    row = await executor.fetch_one("count_vectors", space=space)
    return int(row["vectors"]) if row else 0


async def count_pending(executor: Executor) -> int:
    """Return items of all namespaces that lack a vector in the active space."""
    row = await executor.fetch_one("count_pending")
    return int(row["pending"]) if row else 0


async def next_pending(executor: Executor, space: str, limit: int) -> list[PendingItem]:
    """Return up to `limit` items that lack a vector in `space`; none when it is not the active one (any more)."""
    return [_pending(row) for row in await executor.fetch_all("next_pending", {"space": space, "limit": limit})]


async def next_without_vector(executor: Executor, space: str, limit: int) -> list[PendingItem]:
    """Return up to `limit` items that lack a vector in `space`, active or not."""
    rows = await executor.fetch_all("next_without_vector", {"space": space, "limit": limit}, space=space)
    return [_pending(row) for row in rows]


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


async def refuse_vectors(executor: Executor, space: str, refusals: Sequence[Refusal]) -> None:
    """Stop trying to encode items for `space`; other spaces may take them. They stay findable by keyword, and are tried
    again when they have changed.
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
    """Return how many items the encoder of `space` did not take, by the language of those that it does not read, the
    most frequent first; None: for another reason.
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
