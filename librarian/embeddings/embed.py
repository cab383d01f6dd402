"""Encodes items that lack a vector: the worker's step, and the building of a space beside the active one."""

import logging
from collections.abc import Callable, Sequence

from agents.sweep.sections import without_sections
from graph.executor import Executor
from graph.spaces import count_pending, measure_lacking, next_pending, next_without_vector, put_vectors, refuse_vector
from graph.types import ItemVectors, PendingItem, SpaceRecord
from retrieval.encoders.base import Encoder
from retrieval.encoders.errors import EncoderRejectedText, InvalidVectors
from retrieval.passages import embedding_text, passages

log = logging.getLogger("librarian.embed")

# Enough texts for full batches sorted by length, few enough that an interruption repeats only a second of work.
ITEMS_AT_ONCE = 256
OnProgress = Callable[[int, int], None]


async def embed_pending(
    executor: Executor, space: SpaceRecord, encoder: Encoder, on_progress: OnProgress | None = None
) -> int:
    """Encode every item that lacks a vector in the active space; returns how many got one.

    `on_progress` gets (done, total known so far). Safe to interrupt and to run twice at a time: an item stays pending
    until its vectors are stored.
    """
    done = 0
    while items := await next_pending(executor, space.space, ITEMS_AT_ONCE):
        stored = await _embed(executor, space, encoder, items)
        done += stored
        if on_progress:
            on_progress(done, done + await count_pending(executor))
    return done


async def fill_space(
    executor: Executor, space: SpaceRecord, encoder: Encoder, on_progress: OnProgress | None = None
) -> int:
    """Encode every item that lacks a vector in `space`, which need not be the active one; returns how many got one.

    Safe to interrupt and to run twice at a time: what is stored is not encoded again.
    """
    done, total = 0, (await measure_lacking(executor, space.space)).items
    while items := await next_without_vector(executor, space.space, ITEMS_AT_ONCE):
        done += await _embed(executor, space, encoder, items)
        if on_progress:
            on_progress(done, max(done, total))
    return done


async def _embed(executor: Executor, space: SpaceRecord, encoder: Encoder, items: Sequence[PendingItem]) -> int:
    texts = [texts_of(item) for item in items]
    try:
        vectors = await encoder.encode_passages([text for parts in texts for text in parts])
    except (EncoderRejectedText, InvalidVectors) as error:
        if len(items) == 1:
            log.warning("no vector for item %s: %s", items[0].uid, error)
            await refuse_vector(executor, space.space, items[0])
            return 0
        # One text spoils the batch: halve it until that text stands alone.
        middle = len(items) // 2
        halves = (items[:middle], items[middle:])
        return sum([await _embed(executor, space, encoder, half) for half in halves])
    for item in [item for item, parts in zip(items, texts, strict=True) if not parts]:
        await refuse_vector(executor, space.space, item)
    rows = []
    start = 0
    for item, parts in zip(items, texts, strict=True):
        own = vectors[start : start + len(parts)]
        rows.append(ItemVectors(item.namespace, item.uid, item.version, own.tolist()))
        start += len(parts)
    return await put_vectors(executor, space, rows)


def texts_of(item: PendingItem) -> list[str]:
    """Return the item's passages as they are encoded, without the headings of a sweep's sections; none of a blank
    text.
    """
    text = without_sections(item.text)
    parts = passages(f"{text} [{item.caption}]" if item.caption else text)
    return [embedding_text(item.author_name, part, None) for part in parts]
