"""Encodes items that lack a vector: the worker's step, and building a space beside the active one."""

import asyncio
import logging
import os
import socket
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass

from graph.errors import LeaseHeld
from graph.executor import Executor
from graph.leases import leased
from graph.spaces import count_pending, measure_lacking, next_pending, next_without_vector, put_vectors, refuse_vectors
from graph.types import ItemVectors, PendingItem, Refusal, SpaceRecord
from librarian_agents.sweep.sections import without_sections
from retrieval.encoders.base import Encoder
from retrieval.encoders.errors import EncoderRejectedText, InvalidVectors
from retrieval.passages import embedding_text, readable

log = logging.getLogger("librarian.embed")

# Enough texts for full batches sorted by length, few enough that an interruption repeats only a second of work.
ITEMS_AT_ONCE = 256
# The encoder rests while items are fetched, which includes those that are being stored.
_FETCHED_AT_ONCE = 2 * ITEMS_AT_ONCE
# How often to check whether another process has finished or stopped.
_HELD_POLL_S = 0.2
OnProgress = Callable[[int, int], None]
_Next = Callable[[Executor, str, int], Awaitable[list[PendingItem]]]


@dataclass(frozen=True, slots=True)
class Readable:
    """The passages of an item that an encoder reads; `unread` is the language of the first that it does not."""

    item: PendingItem
    texts: Sequence[str]
    unread: str | None


@dataclass(frozen=True, slots=True)
class _Found:
    """Vectors of items, and what gets none."""

    vectors: list[ItemVectors]
    refused: list[Refusal]


async def embed_pending(
    executor: Executor, space: SpaceRecord, encoder: Encoder, on_progress: OnProgress | None = None
) -> int:
    """Encode every item that lacks a vector in the active space; return how many this call encoded.

    `on_progress` gets (done, total known so far). Safe to interrupt and to run concurrently: an item stays pending
    until its vectors are stored, and one process encodes while the others wait for it.
    """

    async def tell(done: int) -> None:
        if on_progress:
            on_progress(done, done + await count_pending(executor))

    return await _encode_all(executor, space, encoder, next_pending, tell)


async def fill_space(
    executor: Executor, space: SpaceRecord, encoder: Encoder, on_progress: OnProgress | None = None
) -> int:
    """Encode every item that lacks a vector in `space`, active or not; return how many this call encoded.

    Safe to interrupt and to run concurrently: stored items are not encoded again.
    """
    total = (await measure_lacking(executor, space.space)).items

    async def tell(done: int) -> None:
        if on_progress:
            on_progress(done, max(done, total))

    return await _encode_all(executor, space, encoder, next_without_vector, tell)


def readable_texts(item: PendingItem, languages: Collection[str] | None) -> Readable:
    """Return the passages of an item in `languages` (None: all), without the headings of a sweep's sections. A blank
    text has no passage.
    """
    text = without_sections(item.text)
    parts, unread = readable(f"{text} [{item.caption}]" if item.caption else text, languages)
    return Readable(item, [embedding_text(item.author_name, part, None) for part in parts], unread)


async def _encode_all(
    executor: Executor,
    space: SpaceRecord,
    encoder: Encoder,
    following: _Next,
    on_done: Callable[[int], Awaitable[None]],
) -> int:
    done = 0
    while await following(executor, space.space, 1):
        try:
            async with leased(executor, f"encoding for {space.space}", f"{socket.gethostname()} ({os.getpid()})"):
                done = await _encode_leased(executor, space, encoder, following, on_done, done)
        except LeaseHeld:
            await asyncio.sleep(_HELD_POLL_S)
            await on_done(done)
    return done


async def _encode_leased(
    executor: Executor,
    space: SpaceRecord,
    encoder: Encoder,
    following: _Next,
    on_done: Callable[[int], Awaitable[None]],
    done: int,
) -> int:
    """Encode until nothing lacks a vector, storing each batch while the next is encoded. Returns the number encoded,
    including `done`.
    """
    held: set[tuple[str, str, int]] = set()
    waiting: list[PendingItem] = []
    writing: asyncio.Task[int] | None = None
    try:
        while True:
            if not waiting:
                items = await following(executor, space.space, _FETCHED_AT_ONCE + len(held))
                # Items being stored may be among them.
                waiting = [item for item in items if _version(item) not in held]
            fresh, waiting = waiting[:ITEMS_AT_ONCE], waiting[ITEMS_AT_ONCE:]
            found = await _encode(space, encoder, fresh)
            if writing is not None:
                done += await writing
                await on_done(done)
            elif not fresh:
                return done
            held = {_version(item) for item in fresh}
            writing = asyncio.create_task(_store(executor, space, found)) if fresh else None
    finally:
        if writing is not None:
            writing.cancel()
            await asyncio.gather(writing, return_exceptions=True)


def _version(item: PendingItem) -> tuple[str, str, int]:
    return (item.namespace, item.uid, item.version)


async def _store(executor: Executor, space: SpaceRecord, found: _Found) -> int:
    """Store vectors, and mark the items that the encoder does not take; return how many items got vectors."""
    await refuse_vectors(executor, space.space, found.refused)
    return await put_vectors(executor, space, found.vectors) if found.vectors else 0


async def _encode(space: SpaceRecord, encoder: Encoder, items: Sequence[PendingItem]) -> _Found:
    """Return the vectors of the passages that the encoder reads."""
    read = [readable_texts(item, space.languages) for item in items]
    found = _Found([], [Refusal(entry.item, entry.unread) for entry in read if not entry.texts])
    await _add_vectors(encoder, [entry for entry in read if entry.texts], found)
    return found


async def _add_vectors(encoder: Encoder, read: Sequence[Readable], found: _Found) -> None:
    if not read:
        return
    try:
        vectors = await encoder.encode_passages([text for entry in read for text in entry.texts])
    except (EncoderRejectedText, InvalidVectors) as error:
        if len(read) == 1:
            item = read[0].item
            log.warning("no vector for item %s: %s", item.uid, error)
            found.refused.append(Refusal(item))
            return
        # One text spoils the batch: halve it until that text is isolated.
        middle = len(read) // 2
        for half in (read[:middle], read[middle:]):
            await _add_vectors(encoder, half, found)
        return
    start = 0
    for entry in read:
        item, own = entry.item, vectors[start : start + len(entry.texts)]
        found.vectors.append(ItemVectors(item.namespace, item.uid, item.version, own.tolist()))
        start += len(entry.texts)
