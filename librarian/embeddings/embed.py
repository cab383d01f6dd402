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
                while items := await following(executor, space.space, ITEMS_AT_ONCE):
                    done += await _embed(executor, space, encoder, items)
                    await on_done(done)
        except LeaseHeld:
            await asyncio.sleep(_HELD_POLL_S)
            await on_done(done)
    return done


async def _embed(executor: Executor, space: SpaceRecord, encoder: Encoder, items: Sequence[PendingItem]) -> int:
    """Store the vectors of the passages that the encoder reads, and mark the other items as having none."""
    found = [readable_texts(item, space.languages) for item in items]
    refusals = [Refusal(entry.item, entry.unread) for entry in found if not entry.texts]
    await refuse_vectors(executor, space.space, refusals)
    return await _encode(executor, space, encoder, [entry for entry in found if entry.texts])


async def _encode(executor: Executor, space: SpaceRecord, encoder: Encoder, found: Sequence[Readable]) -> int:
    if not found:
        return 0
    try:
        vectors = await encoder.encode_passages([text for entry in found for text in entry.texts])
    except (EncoderRejectedText, InvalidVectors) as error:
        if len(found) == 1:
            item = found[0].item
            log.warning("no vector for item %s: %s", item.uid, error)
            await refuse_vectors(executor, space.space, [Refusal(item)])
            return 0
        # One text spoils the batch: halve it until that text is isolated.
        middle = len(found) // 2
        halves = (found[:middle], found[middle:])
        return sum([await _encode(executor, space, encoder, half) for half in halves])
    rows = []
    start = 0
    for entry in found:
        item, own = entry.item, vectors[start : start + len(entry.texts)]
        rows.append(ItemVectors(item.namespace, item.uid, item.version, own.tolist()))
        start += len(entry.texts)
    return await put_vectors(executor, space, rows)
