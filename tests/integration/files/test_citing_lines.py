"""Facts and memories that cite lines of files: one graph of evidence, which says when it does not stand any more."""

import pytest

from librarian.base.errors import InvalidInput
from librarian.files.contracts import StaleQuery
from librarian.items.contracts import RememberInput
from librarian.search.contracts import SemanticSearchInput
from librarian.sweep.contracts import ReviewInput, ReviewQuery, SweepRequest

CODE = "import os\n\n\ndef wait():\n    return 30\n"
FACT = {"kind": "fact", "uid": "f", "subject": "the deploy lock", "predicate": "waits", "object": "30 seconds"}
CITED = "file:lock.py#L4-L5"


@pytest.fixture
def keep(librarian, namespace):
    """Keeps a fact or memory with this evidence."""

    async def run(*refs, **given):
        wanted = {"kind": "fact", "text": "the deploy lock waits 30 seconds", **given, "evidence": list(refs)}
        return (await librarian.remember(namespace, RememberInput(**wanted))).item.uid

    return run


@pytest.fixture
def stale(librarian, namespace):
    """Return the citations that do not stand: (path, first line, last line, state)."""

    async def run():
        found = (await librarian.stale_evidence(namespace, StaleQuery())).stale
        return [(one.path, one.start, one.end, one.state) for one in found]

    return run


@pytest.fixture
def evidence(librarian, namespace):
    """The evidence of an item: (path, first line, last line)."""

    async def run(uid):
        item = await librarian.get_item(namespace, uid)
        return [(one.path, one.start, one.end) for one in item.evidence]

    return run


@pytest.fixture
def store(librarian, namespace):
    async def run(text, path="lock.py"):
        await librarian.put_file(namespace, path, text.encode())

    return run


@pytest.mark.parametrize("kind", ["fact", "memory"])
async def test_cited_lines_are_evidence(librarian, namespace, keep, store, stale, evidence, kind):
    """With its path and lines, and the text of the part that holds them."""
    await store(CODE)
    uid = await keep(CITED, kind=kind)
    assert await evidence(uid) == [("lock.py", 4, 5)]
    assert "return 30" in (await librarian.get_item(namespace, uid)).evidence[0].content
    assert await stale() == []


async def test_changed_lines_are_stale_until_they_come_back(librarian, namespace, keep, store, stale, evidence):
    """The evidence is gone from the item, and listed with what it said; the old text makes it stand again."""
    await store(CODE)
    uid = await keep(CITED)
    await store(CODE.replace("30", "60"))
    assert await stale() == [("lock.py", 4, 5, "changed")]
    assert await evidence(uid) == []
    listed = (await librarian.stale_evidence(namespace, StaleQuery())).stale[0]
    assert (listed.uid, listed.ref, listed.content) == (uid, CITED, "def wait():\n    return 30")
    assert listed.since is not None
    await store(CODE)
    assert (await stale(), await evidence(uid)) == ([], [("lock.py", 4, 5)])


async def test_moved_lines_are_followed(keep, store, stale, evidence):
    """Lines that stand elsewhere in the file are the same evidence."""
    await store(CODE)
    uid = await keep(CITED)
    await store("import sys\n" * 200 + CODE + "\n\nmore = 1\n")
    assert (await stale(), await evidence(uid)) == ([], [("lock.py", 204, 205)])


async def test_a_deleted_file_is_gone(librarian, namespace, keep, store, stale, evidence):
    """And comes back with it."""
    await store(CODE)
    uid = await keep(CITED)
    await librarian.delete_file(namespace, "lock.py")
    assert (await stale(), await evidence(uid)) == ([("lock.py", 4, 5, "gone")], [])
    await store(CODE)
    assert (await stale(), await evidence(uid)) == ([], [("lock.py", 4, 5)])


async def test_a_file_may_come_later(keep, store, stale, evidence):
    """Until then it is not found; so are lines that a file does not have."""
    uid = await keep(CITED, "file:lock.py#L99")
    assert await stale() == [("lock.py", 4, 5, "not_found"), ("lock.py", 99, 99, "not_found")]
    await store(CODE)
    assert await stale() == [("lock.py", 99, 99, "not_found")]
    assert await evidence(uid) == [("lock.py", 4, 5)]


async def test_indexing_a_folder_renews_evidence(librarian, namespace, tree, keep, stale):
    """The same by `index` as by upload."""
    root = tree({"src/lock.py": CODE})
    await librarian.index_files(namespace, root)
    await keep("file:src/lock.py:4-5")
    (root / "src/lock.py").write_text(CODE.replace("30", "61"))
    await librarian.index_files(namespace, root)
    assert await stale() == [("src/lock.py", 4, 5, "changed")]


async def test_messages_and_lines_support_one_fact(librarian, ingest, namespace, store, evidence):
    """References to files and to messages stand in one list."""
    await store(CODE)
    message = {"kind": "message", "uid": "m", "text": "the lock waits 30 seconds, see lock.py"}
    report = await ingest(message, {**FACT, "evidence": ["m", CITED]})
    assert report.notes == []
    assert set(await evidence("f")) == {("lock.py", 4, 5), (None, None, None)}


async def test_another_reference_replaces_the_first(ingest, store, stale, evidence):
    """A fact that is stored again cites what its row names now."""
    await store(CODE)
    await ingest({**FACT, "evidence": [CITED, "file:nowhere.py#L1"]})
    await ingest({**FACT, "evidence": ["file:lock.py#L1"]})
    assert (await stale(), await evidence("f")) == ([], [("lock.py", 1, 1)])
    await ingest({**FACT, "object": "60 seconds", "evidence": []})
    assert (await stale(), await evidence("f")) == ([], [])


async def test_an_edit_of_something_else_does_not_hide_stale_evidence(ingest, store, stale):
    """Cited lines stay what they were."""
    await store(CODE)
    await ingest({**FACT, "evidence": [CITED]})
    await store(CODE.replace("30", "60"))
    await ingest({**FACT, "evidence": [CITED], "tags": ["deploy"]})
    assert await stale() == [("lock.py", 4, 5, "changed")]


async def test_an_item_goes_with_its_citations(librarian, namespace, executor, keep, store, stale):
    """Nothing is left to be stale."""
    await store(CODE)
    uid = await keep(CITED)
    await librarian.delete_item(namespace, uid)
    await librarian.delete_file(namespace, "lock.py")
    assert await stale() == []
    left = "MATCH (n:Citation {namespace: $namespace}) RETURN count(n) AS left"
    records, _, _ = await executor.driver.execute_query(left, namespace=namespace)
    assert records[0]["left"] == 0


@pytest.mark.parametrize("ref", ["file:", "file:lock.py", "file:lock.py#L0", "file:lock.py#L9-L2", "file:a#L1-L999"])
async def test_a_reference_without_lines_is_refused(keep, ref):
    """With the field and how it is written."""
    with pytest.raises(InvalidInput) as refused:
        await keep(ref)
    assert refused.value.field == "$.evidence"


async def test_parts_of_files_rank_beside_memories(librarian, ingest, namespace, store):
    """One search finds both, and says which is which."""
    await store("def acquire_deploy_lock():\n    '''Waits for the deploy lock.'''\n")
    await ingest({"kind": "memory", "uid": "k", "text": "Problem: the deploy lock was never released."})
    await librarian.embed_pending()
    found = await librarian.search_all(namespace, SemanticSearchInput(queries=["deploy lock"], limit=10))
    assert {type(hit).__name__ for hit in found.results} == {"ChunkResult", "MemoryResult"}


async def test_a_merge_keeps_the_cited_lines_of_both(librarian, executor, namespace, ingest, store, evidence):
    """Each once, however they were written; lines that have moved since are still those that were cited, and lines that
    are gone are still listed with what they said.
    """
    for path, text in (("lock.py", CODE), ("conf.py", "HOOK = 6\n"), ("old.py", "LATE = 1\n")):
        await store(text, path)
    said = "TIL: the cache of the search page is warmed by the deploy hook at 06:00 every day"
    await ingest(
        {"kind": "memory", "uid": "fuller", "text": f"{said}, too.", "evidence": [CITED]},
        {"kind": "memory", "uid": "shorter", "text": f"{said}.",
         "evidence": ["file:lock.py:4-5", "file:conf.py#L1", "file:old.py#L1"]},
    )  # fmt: skip
    await store("import re\n\n\nHOOK = 6\n", "conf.py")
    await store("EARLY = 1\n", "old.py")
    await librarian.sweep(namespace, SweepRequest())
    (merge,) = (await librarian.list_reviews(namespace, ReviewQuery(sorts=["merge"]))).reviews
    await librarian.review(namespace, merge.review_id, ReviewInput(verdict="accept"))
    assert sorted(await evidence("fuller")) == [("conf.py", 4, 4), ("lock.py", 4, 5)]
    (stale,) = (await librarian.stale_evidence(namespace, StaleQuery())).stale
    assert (stale.uid, stale.path, stale.state, stale.content) == ("fuller", "old.py", "changed", "LATE = 1")
    citations = "MATCH (n:Citation {namespace: $namespace}) RETURN n.uid AS uid, n.ref AS ref, COUNT { ()-->(n) } AS by"
    found = await executor.run_migration(f"{citations} ORDER BY ref", {"namespace": namespace})
    refs = ["file:conf.py#L1", CITED, "file:old.py#L1"]
    assert found == [{"uid": "fuller", "ref": ref, "by": 1} for ref in refs]
