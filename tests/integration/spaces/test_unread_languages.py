"""Texts in languages that an encoder does not read: not encoded, told, and encoded by one that reads them."""

import asyncio
from importlib.resources import files
from io import BytesIO
from pathlib import Path

import pytest

from graph.spaces import count_pending, count_vectors, list_spaces, put_vectors, set_languages
from graph.types import ItemVectors
from librarian.cli.doctor_checks.database import MULTILINGUAL, database_checks
from librarian.search.contracts import WhyNotInput
from migrations.plan import parse

pytestmark = pytest.mark.slow

ENGLISH = {"ferry": "The ferry to Lisbon leaves at nine."}
JAPANESE = {f"ja{n}": f"{n}月の請求書について話しました。" for n in range(1, 4)}
# Longer than a passage: the English one is read, the Japanese one is not.
MIXED = {"mixed": f"{'We talked about the connection pool. ' * 38}\n\n{'会議は水曜日に移りました。' * 30}"}


@pytest.fixture(autouse=True)
async def measured(original):
    """The languages of the space as opening records them, whatever tests before have left of the record."""
    await set_languages(original.parts.executor, original.parts.space.space, frozenset({"en"}))


@pytest.fixture
def encoded(original, monkeypatch):
    """The passages that the original encoder was given."""
    given = []
    encoder = original.parts.encoder
    encode = encoder.encode_passages

    async def spy(texts):
        given.extend(texts)
        return await encode(texts)

    monkeypatch.setattr(encoder, "encode_passages", spy)
    return given


async def status(librarian):
    """How the active space stands."""
    (space,) = [space for space in (await librarian.embeddings.status()).spaces if space.active]
    return space


async def labelled(librarian, label):
    found, _, _ = await librarian.parts.executor.driver.execute_query(
        f"MATCH (m:{label}) RETURN m.uid AS uid ORDER BY uid"
    )
    return [record["uid"] for record in found]


async def doctor(settings):
    return next(check for check in await database_checks(settings) if check.name == "languages")


async def test_what_the_encoder_does_not_read_is_not_encoded_and_counted(
    original, encoded, store, namespace, original_settings
):
    """Items wait no more and have no vector, of a mixed text the passages that can be read have one; the state of the
    space, doctor and the question why an item is not found say so.
    """
    await store(original, **ENGLISH, **JAPANESE, **MIXED)
    assert await original.embed_pending() == 2
    assert [text[:9] for text in encoded] == ["The ferry", "We talked"]
    assert await count_pending(original.parts.executor) == 0
    assert await labelled(original, "EmbeddingRefused") == sorted(JAPANESE)
    assert await original.unread_items() == {"ja": 3}
    space = await status(original)
    assert (space.vectors, space.languages, space.unread_items, space.refused_items) == (2, ["en"], {"ja": 3}, 0)
    found = await doctor(original_settings)
    assert (found.status, "3 in 'ja'" in found.detail, f"--build --encoder {MULTILINGUAL}" in found.remedy) == (
        "warning",
        True,
        True,
    )
    asked = WhyNotInput(uid="ja1", queries=["when does the ship depart?"])
    reasons = [arm.reason for arm in (await original.why_not(namespace, asked)).arms if arm.arm == "vector"]
    assert reasons == ["the encoder does not tell texts in 'ja' apart, so it has no vector"]


async def test_a_graph_that_is_mostly_read_is_in_order(original, store, original_settings):
    """A few texts in another language are told, and nobody is advised to change the encoder for them."""
    await store(original, **ENGLISH, pool="The pool was exhausted.", ja1=JAPANESE["ja1"])
    await original.embed_pending()
    found = await doctor(original_settings)
    assert (found.status, "1 in 'ja'" in found.detail, found.remedy) == ("ok", True, None)


async def test_a_changed_text_is_looked_at_again(original, store):
    """An item that was not read is encoded once its text is in a language that is."""
    await store(original, note=JAPANESE["ja1"])
    assert await original.embed_pending() == 0
    await store(original, note=ENGLISH["ferry"])
    assert await original.embed_pending() == 1
    assert await original.unread_items() == {}
    assert await labelled(original, "EmbeddingRefused") == []


async def test_a_switch_to_an_encoder_that_reads_them_encodes_them(original, mirrored, store, monkeypatch):
    """One call builds and switches, however much there is; the way back leaves them without a vector again."""
    monkeypatch.setattr("librarian.embeddings.room.CATCH_UP", 2)
    await store(original, **ENGLISH, **JAPANESE)
    await original.embed_pending()
    async with mirrored() as other:
        await set_languages(other.parts.executor, other.parts.space.space, frozenset({"en", "ja"}))
    async with mirrored() as other:
        assert await other.embeddings.switch(build=True) == 4
        assert await count_pending(other.parts.executor) == 0
        assert await labelled(other, "EmbeddingRefused") == []
        space = await status(other)
        assert (space.vectors, space.languages, space.unread_items) == (4, ["en", "ja"], {})
        await other.embeddings.rollback()
    assert await original.embed_pending() == 0
    assert await original.unread_items() == {"ja": 3}


async def test_vectors_of_an_older_version_go_with_the_migration(original, store, encoded):
    """Those of texts that the encoder reads stay; a mixed text is looked at again and keeps what can be read."""
    await store(original, **ENGLISH, **JAPANESE, **MIXED)
    await original.embed_pending()
    parts = original.parts
    (space,) = [space for space in await list_spaces(parts.executor) if space.active]
    (vector,) = (await parts.encoder.encode_query(["meaningless"])).tolist()
    versions, _, _ = await parts.executor.driver.execute_query(
        "MATCH (m:EmbeddingRefused) RETURN m.namespace AS namespace, m.uid AS uid, m.version AS version"
    )
    items = [ItemVectors(row["namespace"], row["uid"], row["version"], [vector]) for row in versions]
    assert await put_vectors(parts.executor, space, items) == 3
    assert await count_vectors(parts.executor, space.space) == 5
    file = files("migrations.versions").joinpath("0008_unread_vectors.cypher")
    for statement in parse(file.name, file.read_text(encoding="utf-8")).statements:
        await parts.executor.run_migration(statement)
    assert await count_vectors(parts.executor, space.space) == 1
    encoded.clear()
    assert await original.embed_pending() == 1
    assert [text[:9] for text in encoded] == ["We talked"]
    assert await count_vectors(parts.executor, space.space) == 2


async def test_a_restored_backup_knows_what_is_not_read(original, store, tmp_path):
    """It counts it as the original did, and nothing waits."""
    await store(original, **ENGLISH, **JAPANESE)
    await original.embed_pending()
    made = await original.backup(tmp_path)
    await original.parts.executor.driver.execute_query("MATCH (n) WHERE n.namespace IS NOT NULL DETACH DELETE n")
    await original.restore(BytesIO(await asyncio.to_thread(Path(made.file).read_bytes)))
    assert await original.unread_items() == {"ja": 3}
    assert await count_pending(original.parts.executor) == 0
