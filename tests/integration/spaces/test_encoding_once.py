"""Nothing is encoded twice, not by two processes beside each other, not for one query; and vectors are stored while the
next texts are encoded.
"""

import asyncio

import msgspec
import pytest

from graph.spaces import count_pending, count_vectors
from librarian.app import open_librarian
from librarian.cli.opening import encode_pending, encoding
from librarian.embeddings import embed

pytestmark = pytest.mark.slow

MANY = {f"m{n}": f"We talked about boat number {n}." for n in range(300)}


def spied(monkeypatch, librarian, method, given):
    encoder = librarian.parts.encoder
    encode = getattr(encoder, method)

    async def spy(texts):
        given.append(list(texts))
        return await encode(texts)

    monkeypatch.setattr(encoder, method, spy)


async def test_who_finds_another_at_the_encoding_waits_for_it(original, original_settings, store, monkeypatch):
    """An ingest beside a running service, as two Librarians on one graph: each text is encoded by one of them, and both
    return when all have vectors.
    """
    given = []
    await store(original, **MANY)
    async with open_librarian(original_settings, purpose="space tests", linger_s=0) as beside:
        spied(monkeypatch, original, "encode_passages", given)
        spied(monkeypatch, beside, "encode_passages", given)
        done = await asyncio.gather(original.embed_pending(), beside.embed_pending())
    assert sum(done) == len(MANY)
    assert sorted(text for batch in given for text in batch) == sorted(MANY.values())
    assert await count_pending(original.parts.executor) == 0
    assert await count_vectors(original.parts.executor, original.parts.space.space) == len(MANY)


async def test_two_builds_of_one_space_share_the_work(original, mirrored, store):
    """The second goes on with what the first has left, and encodes nothing again."""
    await store(original, **MANY)
    async with mirrored() as one, mirrored() as two:
        done = await asyncio.gather(one.embeddings.build(), two.embeddings.build())
        assert sum(done) == len(MANY)
        assert await count_vectors(one.parts.executor, one.parts.space.space) == len(MANY)


async def test_vectors_are_stored_while_the_next_texts_are_encoded(original, store, monkeypatch):
    encode, put = original.parts.encoder.encode_passages, embed.put_vectors
    calls, second = [], asyncio.Event()

    async def encode_passages(texts):
        calls.append(list(texts))
        if len(calls) > 1:
            second.set()
        return await encode(texts)

    async def put_vectors(*given):
        await asyncio.wait_for(second.wait(), 30)
        return await put(*given)

    await store(original, **MANY)
    monkeypatch.setattr(original.parts.encoder, "encode_passages", encode_passages)
    monkeypatch.setattr(embed, "put_vectors", put_vectors)
    assert await original.embed_pending() == len(MANY)
    assert sorted(text for batch in calls for text in batch) == sorted(MANY.values())


async def test_an_ingest_of_the_command_line_encodes_what_it_has_stored(original, store):
    executor, space = original.parts.executor, original.parts.space.space
    async with encoding(original, unless=True) as before:
        await store(original, first="We sailed to the island.")
    assert before is None
    assert await count_pending(executor) == 1
    async with encoding(original, unless=False) as before, asyncio.timeout(30):
        while await count_pending(executor):
            await asyncio.sleep(0.05)
    assert await count_vectors(executor, space) == 1
    assert await encode_pending(original, unless=False, before=before) == 0


@pytest.mark.parametrize("query", ["Melanie", "Melanie?", "melanie's"])
async def test_a_query_that_is_a_name_is_encoded_once(original, namespace, ask, monkeypatch, query):
    """Where the name is all there is, what is asked and what is meant are one text."""
    row = {"kind": "message", "message_id": "m1", "conversation_id": "c", "author": "Melanie", "text": "I like tea."}

    async def lines():
        yield 1, msgspec.json.encode(row)

    await original.ingest(lines(), namespace=namespace)
    await original.embed_pending()
    given = []
    spied(monkeypatch, original, "encode_query", given)
    assert (await ask(original, query)).arms["vector"] == "ok"
    assert given == [[query]]
