"""Administration of the embedding spaces of one graph."""

import asyncio
import contextlib
import time
from collections.abc import Callable

import structlog

from graph.errors import GraphError, SpaceIncomplete
from graph.executor import Executor
from graph.spaces import (
    activate,
    compact,
    count_pending,
    count_refused,
    count_vectors,
    drop_space,
    index_state,
    list_spaces,
    measure_lacking,
    next_without_vector,
)
from graph.types import ItemFilter, Lacking, SpaceRecord
from librarian.base import metrics
from librarian.base.audit import audit
from librarian.base.errors import Conflict, InvalidInput, NotFound
from librarian.embeddings.contracts import SpaceList, SpacePlan
from librarian.embeddings.embed import embed_pending, fill_space, readable_texts
from librarian.runtime.calibration import calibrate, calibrations_out
from librarian.runtime.contracts import CalibrationOut, SpaceStatus
from librarian.runtime.lifecycle import Lifecycle
from retrieval.encoders.base import Encoder
from retrieval.encoders.errors import EncoderError
from retrieval.pipeline import SearchPipeline, VectorArm
from retrieval.types import SearchRequest

CATCH_UP = 1_000
"""Maximum number of items that a switch encodes itself; more are left to `build`, which shows progress."""
_LATE = 256
"""Items that may arrive between the last check and the switch; a worker encodes them within seconds."""
_SAMPLED = 64
# Spaces hold vectors of all namespaces.
_EVERYWHERE = "*"
_WARM_UP_NAMESPACE = "sample"
# The stored vector takes 4 bytes per dimension, the index 5 (its own copy and the quantised one; 4.9 measured with
# 18,000 vectors of 384 dimensions); the node with its properties and links adds some hundred bytes.
_BYTES_A_NUMBER = 9
_BYTES_A_VECTOR = 600

_WORKER_POLL_S = 2.0
_WORKER_REST_S = 5.0

log = structlog.get_logger("librarian.service")
OnProgress = Callable[[int, int], None]


class EmbeddingsRoom:
    """Encodes items that lack a vector; builds, switches and drops embedding spaces. "The encoder" is the configured
    one; "its space" holds its vectors and need not be the active one.
    """

    def __init__(self, lifecycle: Lifecycle) -> None:
        self._lifecycle = lifecycle
        self._new_items = asyncio.Event()

    # Items without a vector.

    async def work(self) -> None:
        """Have the server plan a search, then encode pending items as they arrive, until cancelled."""
        await self._warm_up()
        await self.encode_as_they_come()

    async def encode_as_they_come(self) -> None:
        """Encode pending items until cancelled. Failures are logged and retried."""
        self._new_items = asyncio.Event()  # bound to the running loop
        while True:
            self._new_items.clear()
            try:
                await self.embed_pending()
            except (GraphError, EncoderError) as error:
                log.warning("encoding paused", reason=str(error))
                await asyncio.sleep(_WORKER_REST_S)
                continue
            try:
                async with asyncio.timeout(_WORKER_POLL_S):
                    await self._new_items.wait()
            except TimeoutError:
                continue  # another process may have added items

    async def _warm_up(self) -> None:
        """Search once, so that no user waits the seconds in which the server first plans the statement."""
        with contextlib.suppress(GraphError):  # a lost database must not end the worker
            request = SearchRequest(["warm up"], ItemFilter(_WARM_UP_NAMESPACE), limit=1)
            await self._lifecycle.parts.pipeline.search(request)

    def wake(self) -> None:
        """Wake the worker to encode changed texts."""
        self._new_items.set()

    async def embed_pending(self, *, on_progress: OnProgress | None = None) -> int:
        """Encode every item that lacks a vector in the active space; 0 if another encoder's space is active."""
        parts = self._lifecycle.parts
        if parts.encoder is None or parts.space is None or not parts.space.active:
            return 0
        done = await embed_pending(parts.executor, parts.space, parts.encoder, on_progress)
        if done:
            metrics.pending_embeddings.set(await count_pending(parts.executor))
        return done

    async def pending_embeddings(self) -> int:
        """Count the items of all namespaces that lack a vector in the active space."""
        return await count_pending(self._executor)

    async def unread_items(self) -> dict[str, int]:
        """Count the items of all namespaces whose language the active space's encoder does not read, by language, most
        frequent first.
        """
        active = [space.space for space in await list_spaces(self._executor) if space.active]
        counts = await count_refused(self._executor, active[0]) if active else {}
        return {language: items for language, items in counts.items() if language}

    # Spaces.

    async def calibrate(self) -> list[CalibrationOut]:
        """Recalibrate the cosines of the encoder's space, in each language it covers.

        Running services adopt the result within seconds; a Librarian opened to wait keeps its calibration.
        """
        space, encoder = self._own()
        return calibrations_out(await calibrate(self._executor, space, encoder))

    async def status(self) -> SpaceList:
        """Return every space of the graph, oldest first."""
        pending = await count_pending(self._executor)
        return SpaceList(spaces=[await self._status(space, pending) for space in await list_spaces(self._executor)])

    async def lacking(self) -> Lacking:
        """Measure the items without a vector in the encoder's space."""
        return await measure_lacking(self._executor, self._own()[0].space)

    async def plan(self) -> SpacePlan:
        """Estimate the cost of filling the encoder's space from a few items, which are encoded and discarded."""
        space, encoder = self._own()
        lacking = await self.lacking()
        sample = await next_without_vector(self._executor, space.space, _SAMPLED)
        texts = [text for item in sample for text in readable_texts(item, space.languages).texts]
        started = time.perf_counter()
        if texts:
            await encoder.encode_passages(texts)
        spent_s = time.perf_counter() - started
        # Time grows with length: scale by characters where the sample has any.
        share = lacking.characters / max(1, sum(len(item.text) for item in sample))
        vectors = round(len(texts) * share)
        return SpacePlan(
            space=space.space,
            model=space.model,
            dimension=space.dimension,
            active=(await self._recorded(space.space)).active,
            vectors=await count_vectors(self._executor, space.space),
            items=lacking.items,
            characters=lacking.characters,
            sampled=len(sample),
            seconds=round(spent_s * share, 1),
            new_vectors=vectors,
            bytes=vectors * (_BYTES_A_NUMBER * space.dimension + _BYTES_A_VECTOR),
        )

    async def build(self, *, on_progress: OnProgress | None = None) -> int:
        """Fill the encoder's space beside the active one; return how many items were encoded.

        Searches continue meanwhile. An interrupted build resumes where it stopped.
        """
        space, encoder = self._own()
        return await fill_space(self._executor, space, encoder, on_progress)

    async def switch(self, *, force: bool = False, build: bool = False, on_progress: OnProgress | None = None) -> int:
        """Activate the encoder's space in one step; return how many items were encoded before that.

        Up to CATCH_UP items that arrived since the space was built are encoded first, with `build` all of them. Raises
        Conflict when more lack a vector, unless `force`: then they wait for the worker.
        """
        space, _ = self._own()
        done = 0
        if not force:
            lacking = await self.lacking()
            if lacking.items > CATCH_UP and not build:
                raise _incomplete(f"{lacking.items} items have no vector in space {space.space} yet")
            done = await self.build(on_progress=on_progress)
        await self._activate(space.space, None if force else _LATE)
        return done

    async def switch_to(self, space: str, *, force: bool = False) -> SpaceList:
        """Activate `space`, whichever encoder it belongs to. Raises NotFound, and Conflict while items lack a vector in
        it, unless `force`.
        """
        await self._recorded(space)
        await self._activate(space, None if force else 0)
        return await self.status()

    async def rollback(self) -> SpaceList:
        """Reactivate the previously active space at once: its vectors were kept, and newer items wait for its encoder.
        Raises Conflict if there is none.
        """
        left = [space for space in await list_spaces(self._executor) if space.left_at and not space.active]
        if not left:
            raise Conflict("no other space has been active before", field="space")
        before = max(left, key=lambda space: space.left_at.timestamp() if space.left_at else 0.0)
        await self._activate(before.space, None)
        return await self.status()

    async def drop(self, space: str) -> int:
        """Delete a space with its vectors and index; return the number of vectors. Raises NotFound, and Conflict for
        the active one.
        """
        if (await self._recorded(space)).active:
            raise Conflict(f"{space} is the active space", field="space", remedy="Switch to another one first.")
        vectors = await drop_space(self._executor, space)
        audit("embeddings.drop", _EVERYWHERE, space=space, vectors=vectors)
        return vectors

    async def compact(self) -> None:
        """Rebuild the active space's vector index, which restores the speed of one grown by many small commits."""
        for space in await list_spaces(self._executor):
            if space.active:
                await compact(self._executor, space.space, space.dimension)

    def pipeline(self) -> SearchPipeline:
        """Return a pipeline that searches in the encoder's space, active or not."""
        space, encoder = self._own()
        return SearchPipeline(self._executor, VectorArm(encoder, space.calibrations))

    @property
    def _executor(self) -> Executor:
        return self._lifecycle.parts.executor

    def _own(self) -> tuple[SpaceRecord, Encoder]:
        parts = self._lifecycle.parts
        if parts.encoder is None or parts.space is None:
            raise InvalidInput("no encoder is configured", field="LIBRARIAN_ENCODER", remedy="Name an encoder.")
        return parts.space, parts.encoder

    async def _recorded(self, space: str) -> SpaceRecord:
        for recorded in await list_spaces(self._executor):
            if recorded.space == space:
                return recorded
        raise NotFound(
            f"there is no space {space!r}", field="space", remedy="`librarian embeddings status` lists them."
        )

    async def _activate(self, space: str, lacking: int | None) -> None:
        try:
            pending = await activate(self._executor, space, lacking=lacking)
        except SpaceIncomplete as error:
            raise _incomplete(str(error)) from None
        audit("embeddings.switch", _EVERYWHERE, space=space, pending=pending)

    async def _status(self, space: SpaceRecord, pending: int) -> SpaceStatus:
        refused = await count_refused(self._executor, space.space)
        return SpaceStatus(
            space=space.space,
            model=space.model,
            dimension=space.dimension,
            active=space.active,
            index_state=await index_state(self._executor, space.space),
            vectors=await count_vectors(self._executor, space.space),
            pending_items=pending if space.active else 0,
            refused_items=refused.pop(None, 0),
            unread_items={language: items for language, items in refused.items() if language},
            languages=None if space.languages is None else sorted(space.languages),
            calibrations=calibrations_out(space),
        )


def _incomplete(reason: str) -> Conflict:
    return Conflict(
        reason, field="space", remedy="`librarian embeddings build` encodes them; --force leaves them to the worker."
    )
