"""Deletion: what hangs on an item goes with it, what needs it waits for it, and a preview tells the truth."""

from typing import Any

import pytest

from graph import deletion
from librarian.base.errors import Conflict, InvalidInput, NotFound
from librarian.items.contracts import DeleteCounts, DeleteInput, Filters, MemoryIn

ROWS: list[dict[str, Any]] = [
    *({"kind": "message", "uid": f"m{n}", "message_id": f"id{n}", "conversation_id": "c", "author": "Ada",
       "text": f"turn {n}", "position": n} for n in range(4)),
    {"kind": "message", "uid": "alone", "conversation_id": "short", "author": "Bo", "text": "hello"},
    {"kind": "memory", "uid": "k1", "text": "the pool has 20", "type": "Problem"},
    {"kind": "memory", "uid": "k2", "text": "the pool has 50", "type": "Decision"},
    {"kind": "fact", "uid": "f1", "text": "Ada leads", "person_id": "ada", "evidence": ["m1", "id2"]},
    {"kind": "fact", "uid": "f2", "text": "Ada led", "person_id": "ada", "evidence": ["m1"], "supersedes": ["f1"],
     "valid_from": "2026-03-01T00:00:00Z"},
    {"kind": "edge", "source": "k1", "target": "k2", "type": "CAUSES"},
    {"kind": "edge", "source": "k2", "target": "m1", "type": "RELATES_TO"},
    {"kind": "edge", "source": "m1", "target": "m2", "type": "ENABLES"},
]  # fmt: skip


@pytest.fixture
async def stored(ingest: Any, librarian: Any, namespace: str) -> str:
    """The rows above, with vectors, one item changed once."""
    assert (await ingest(*ROWS)).failed == 0
    await librarian.patch_item(namespace, "k1", {"tags": ["x"]})
    return namespace


async def rows(executor: Any, query: str, namespace: str) -> list[list[Any]]:
    found, _, _ = await executor.driver.execute_query(query, {"ns": namespace})
    return [record.values() for record in found]


async def test_everything_that_hangs_on_an_item_goes(librarian, executor, stored):
    """Edges, evidence links, revisions and embeddings are counted and gone; nothing else is."""
    gone = await librarian.delete_item(stored, "m1")
    assert gone == DeleteCounts(items=1, by_kind={"message": 1}, edges=2, evidence_links=2, revisions=0, embeddings=1)
    gone = await librarian.delete_item(stored, "k1")
    assert gone == DeleteCounts(items=1, by_kind={"memory": 1}, edges=1, evidence_links=0, revisions=1, embeddings=1)
    left = await rows(
        executor,
        "MATCH (n:!TombstoneSalts&!ChangeLog&!ChangeSet {namespace: $ns}) WHERE NOT (n)--() RETURN labels(n)",
        stored,
    )
    assert left == []  # of a message said in a few words its tombstone holds the message_id
    with pytest.raises(NotFound):
        await librarian.get_item(stored, "m1")


async def test_a_conversation_closes_over_a_deleted_message_and_goes_with_its_last(librarian, executor, stored):
    """NEXT leads past the gap; conversations and people that nothing is left of are gone."""
    await librarian.delete_item(stored, "m1")
    order = "MATCH (m:Message {namespace: $ns})-[:NEXT]->(n) RETURN m.uid, n.uid ORDER BY m.uid"
    assert await rows(executor, order, stored) == [["m0", "m2"], ["m2", "m3"]]
    await librarian.delete_item(stored, "alone")
    await librarian.delete_item(stored, "f1")
    groups = "MATCH (g:Person|Conversation {namespace: $ns}) RETURN g.name ORDER BY g.name"
    assert await rows(executor, groups, stored) == [["ada"], ["c"]]
    await librarian.delete_item(stored, "f2")
    assert await rows(executor, groups, stored) == [["c"]]


async def test_what_comes_back_is_linked_again(librarian, ingest, executor, stored):
    """Facts that cited or superseded a deleted item wait for it, whether they named it by uid or by message id."""
    for uid in ("m1", "m2", "f1"):
        await librarian.delete_item(stored, uid)
    waiting = "MATCH (f:UnresolvedReferences {namespace: $ns}) RETURN f.uid ORDER BY f.uid"
    assert await rows(executor, waiting, stored) == [["f2"]]
    report = await ingest(*[row for row in ROWS if row.get("uid") in ("m1", "m2", "f1")], even_if_forgotten=True)
    assert (report.added, report.notes) == (3, [])
    links = "MATCH (f:Fact {namespace: $ns})-[r:EVIDENCED_BY|SUPERSEDES]->(o) RETURN f.uid, o.uid ORDER BY f.uid, o.uid"
    assert await rows(executor, links, stored) == [["f1", "m1"], ["f1", "m2"], ["f2", "f1"], ["f2", "m1"]]
    assert "valid_to" in (await librarian.get_item(stored, "f1")).properties


REQUESTS = [
    {"uids": ["m1", "m2", "k1", "nobody"]},
    {"filters": Filters(kinds=["message"])},
    {"filters": Filters(authors=["Ada"]), "uids": ["m0", "alone", "f1"]},
    {"filters": Filters(person_id="ada")},
    {"filters": Filters(types=["Problem", "Decision"])},
    {"filters": Filters(kinds=["message", "fact", "memory"])},
]


@pytest.mark.parametrize("asked", REQUESTS, ids=lambda asked: str(list(asked)))
@pytest.mark.parametrize("chunk", [1000, 2])
async def test_what_the_preview_counts_is_what_goes(librarian, executor, stored, asked, chunk, monkeypatch):
    """Counts of preview and deletion are equal in one transaction or several, and the graph has lost just that."""
    monkeypatch.setattr(deletion, "CHUNK_ITEMS", chunk)
    census = (
        "MATCH (n {namespace: $ns}) RETURN sum(CASE WHEN n:Item THEN 1 END), sum(CASE WHEN n:Embedding THEN 1 END), "
        "sum(CASE WHEN n:Revision THEN 1 END), "
        "sum(COUNT { (n)-[:CAUSES|BLOCKS|ENABLES|RELATES_TO]->() }), sum(COUNT { (n)-[:EVIDENCED_BY]->() })"
    )
    preview = await librarian.delete_items(stored, DeleteInput(**asked))
    (before,) = await rows(executor, census, stored)
    assert not preview.deleted
    assert len(preview.sample) == preview.counts.items > 0
    done = await librarian.delete_items(stored, DeleteInput(**asked, confirm_token=preview.confirm_token))
    (after,) = await rows(executor, census, stored)
    assert (done.deleted, done.kept, done.counts) == (True, 0, preview.counts)
    c = done.counts
    assert [entry - other for entry, other in zip(before, after, strict=True)] == [
        c.items, c.embeddings, c.revisions, c.edges, c.evidence_links,
    ]  # fmt: skip


async def test_a_filter_takes_superseded_facts_too(librarian, stored):
    """Who forgets a person forgets what was true of them once."""
    preview = await librarian.delete_items(stored, DeleteInput(filters=Filters(person_id="ada")))
    assert preview.counts.by_kind == {"fact": 2}


@pytest.mark.parametrize("change", ["added", "changed", "removed"])
async def test_a_selection_that_changed_is_not_deleted(librarian, stored, change):
    """Whatever was added, changed or removed since the preview makes its token stale, and nothing goes."""
    asked = DeleteInput(filters=Filters(kinds=["memory"]))
    preview = await librarian.delete_items(stored, asked)
    if change == "added":
        await librarian.put_item(stored, "k3", MemoryIn(text="new"))
    elif change == "changed":
        await librarian.patch_item(stored, "k2", {"domain": "db"})
    else:
        await librarian.delete_item(stored, "k2")
    with pytest.raises(Conflict, match="changed since the preview"):
        await librarian.delete_items(stored, DeleteInput(filters=asked.filters, confirm_token=preview.confirm_token))
    assert (await librarian.get_item(stored, "k1")).uid == "k1"


async def test_an_item_that_changes_after_the_confirmation_stays(librarian, executor, stored):
    """Each item goes only at the version it was selected with; the others are counted as kept."""
    gone, kept = await deletion.delete_items(executor, stored, {"k1": 1, "k2": 1, "nobody": 1})
    assert (sum(gone.by_kind.values()), kept) == (1, 1)
    assert (await librarian.get_item(stored, "k1")).version == 2


async def test_a_token_is_for_one_request_in_one_namespace(librarian, ingest, stored):
    """The same items under another filter or in another namespace need a preview of their own."""
    preview = await librarian.delete_items(stored, DeleteInput(filters=Filters(kinds=["memory"])))
    other = f"{stored}-other"
    await ingest(*ROWS, into=other, embed=False)
    for namespace, filters in ((stored, Filters(types=["Problem", "Decision"])), (other, Filters(kinds=["memory"]))):
        with pytest.raises(Conflict):
            await librarian.delete_items(namespace, DeleteInput(filters=filters, confirm_token=preview.confirm_token))


async def test_a_deletion_leaves_the_other_namespace_alone(librarian, ingest, executor, stored):
    """The same uids, deleted here, keep every node and relationship there."""
    other = f"{stored}-other"
    await ingest(*ROWS, into=other)
    whole = "MATCH (n {namespace: $ns}) RETURN labels(n), properties(n), COUNT { (n)--() } ORDER BY elementId(n)"
    before = await rows(executor, whole, other)
    asked = {"filters": Filters(kinds=["message", "fact", "memory"])}
    preview = await librarian.delete_items(stored, DeleteInput(**asked))
    await librarian.delete_items(stored, DeleteInput(**asked, confirm_token=preview.confirm_token))
    left = "MATCH (n:!Tombstone&!TombstoneMark&!TombstoneSalts&!ChangeLog&!ChangeSet {namespace: $ns}) RETURN labels(n)"
    assert await rows(executor, left, stored) == []
    assert await rows(executor, whole, other) == before


@pytest.mark.parametrize("asked", [DeleteInput(), DeleteInput(filters=Filters()), DeleteInput(confirm_token="x")])
async def test_a_deletion_without_a_selection_is_refused(librarian, stored, asked):
    """A whole namespace is deleted by another verb."""
    with pytest.raises(InvalidInput):
        await librarian.delete_items(stored, asked)


async def test_nothing_selected_needs_no_token(librarian, stored):
    """The preview of an empty selection counts nothing and offers nothing to confirm."""
    preview = await librarian.delete_items(stored, DeleteInput(uids=["nobody"]))
    assert (preview.counts, preview.confirm_token, preview.sample) == (DeleteCounts(), None, [])
