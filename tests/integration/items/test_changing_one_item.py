"""PUT, PATCH and remember on the real graph."""

from typing import Any

import pytest

from graph.spaces import put_vectors
from graph.types import ItemVectors
from librarian.base.errors import Conflict, InvalidInput, NotFound, PreconditionFailed
from librarian.items.contracts import FactIn, MemoryIn, MessageIn, RememberInput
from librarian.search.contracts import SearchInput

POOL = {
    "kind": "memory",
    "uid": "pool",
    "text": "Decision: the pool has 20 connections",
    "type": "Decision",
    "tags": ["db"],
    "domain": "backend",
}


async def vectors(executor: Any, namespace: str, uid: str) -> list[dict[str, Any]]:
    found, _, _ = await executor.driver.execute_query(
        "MATCH (:Item {namespace: $ns, uid: $uid})-[:HAS_EMBEDDING]->(e) "
        "RETURN e {.*, vector: null, id: elementId(e)} AS e",
        {"ns": namespace, "uid": uid},
    )
    return [record["e"] for record in found]


async def test_put_creates_then_replaces_then_leaves(librarian, namespace):
    """A new item is added at version 1, another row replaces all of it, the same row again changes nothing."""
    first = await librarian.put_item(namespace, "k", MemoryIn(text="one", tags=["a"], importance=3))
    second = await librarian.put_item(namespace, "k", MemoryIn(text="two", uid="k"))
    third = await librarian.put_item(namespace, "k", MemoryIn(text="two"))
    assert [put.outcome for put in (first, second, third)] == ["added", "updated", "unchanged"]
    assert [put.item.version for put in (first, second, third)] == [1, 2, 2]
    assert (second.item.text, second.item.properties.get("tags"), second.item.properties.get("importance")) == (
        "two",
        None,
        None,
    )
    assert second.item.created_at == first.item.created_at
    assert second.item.properties["updated_at"] > first.item.properties["updated_at"]


async def test_put_makes_the_item_what_the_row_says_whatever_was_patched(librarian, namespace):
    """The row that came first, put again after a patch, is no repetition: it takes the patch back."""
    await librarian.put_item(namespace, "k", MemoryIn(text="one"))
    await librarian.patch_item(namespace, "k", {"text": "patched"})
    put = await librarian.put_item(namespace, "k", MemoryIn(text="one"))
    assert (put.outcome, put.item.text, put.item.version) == ("updated", "one", 3)


@pytest.mark.parametrize(
    ("row", "field"),
    [(MemoryIn(text="x", uid="other"), "$.uid"), (MemoryIn(text="x", namespace="elsewhere"), "$.namespace")],
)
async def test_a_row_that_names_another_place_is_refused(librarian, namespace, row, field):
    """uid and namespace of a row are absent or those of the request."""
    with pytest.raises(InvalidInput) as caught:
        await librarian.put_item(namespace, "k", row)
    assert caught.value.field == field
    with pytest.raises(NotFound):
        await librarian.get_item(namespace, "k")


async def test_an_item_keeps_its_kind(librarian, namespace):
    """A memory does not become a message by PUT, nor by a patch; uid and namespace stay as well."""
    await librarian.put_item(namespace, "k", MemoryIn(text="one"))
    with pytest.raises(Conflict):
        await librarian.put_item(namespace, "k", MessageIn(text="one"))
    for name, value in {"kind": "fact", "uid": "other", "namespace": "elsewhere"}.items():
        with pytest.raises(InvalidInput) as caught:
            await librarian.patch_item(namespace, "k", {name: value})
        assert caught.value.field == f"$.{name}"
    same = {"kind": "memory", "uid": "k", "namespace": namespace, "text": "two"}
    assert (await librarian.patch_item(namespace, "k", same)).text == "two"


async def test_a_version_that_is_not_the_items_stops_the_change(librarian, namespace):
    """if_version must be the stored version; 0 stands for absence. What is refused changes nothing."""
    with pytest.raises(PreconditionFailed):
        await librarian.put_item(namespace, "k", MemoryIn(text="one"), if_version=1)
    await librarian.put_item(namespace, "k", MemoryIn(text="one"), if_version=0)
    for attempt in (
        librarian.put_item(namespace, "k", MemoryIn(text="two"), if_version=0),
        librarian.put_item(namespace, "k", MemoryIn(text="two"), if_version=2),
        librarian.patch_item(namespace, "k", {"text": "two"}, if_version=2),
        librarian.delete_item(namespace, "k", if_version=2),
    ):
        with pytest.raises(PreconditionFailed):
            await attempt
    assert (await librarian.get_item(namespace, "k")).text == "one"
    assert (await librarian.patch_item(namespace, "k", {"text": "two"}, if_version=1)).version == 2


async def test_a_node_without_a_version_counts_as_version_1(librarian, executor, namespace):
    """Items of older graphs can be changed with if_version 1 and are at 2 then."""
    await librarian.put_item(namespace, "k", MemoryIn(text="one"))
    await executor.driver.execute_query("MATCH (m:Item {namespace: $ns}) REMOVE m.version", {"ns": namespace})
    assert (await librarian.get_item(namespace, "k")).version == 1
    assert (await librarian.patch_item(namespace, "k", {"text": "two"}, if_version=1)).version == 2


async def test_a_patch_changes_what_it_names_and_null_removes(librarian, ingest, namespace):
    """RFC 7396: absent fields stay, null removes, lists are replaced, objects merge."""
    await ingest(
        POOL, {"kind": "fact", "uid": "f", "text": "x", "attributes": {"a": 1, "b": 2}, "tags": ["t"]}, embed=False
    )
    patched = await librarian.patch_item(namespace, "pool", {"tags": ["sql", "db"], "domain": None, "importance": 7})
    assert (patched.text, patched.properties["type"], patched.properties["tags"]) == (
        POOL["text"],
        "Decision",
        ["sql", "db"],
    )
    assert "domain" not in patched.properties
    assert (patched.properties["importance"], patched.version) == (7, 2)
    fact = await librarian.patch_item(namespace, "f", {"attributes": {"a": None, "c": 3}, "tags": None})
    assert fact.properties["attributes"] == {"b": 2, "c": 3}
    assert "tags" not in fact.properties


@pytest.mark.parametrize(
    ("patch", "field"),
    [
        ({"importance": 11}, "$.importance"),
        ({"colour": "red"}, "$.colour"),
        ({"text": None}, "$.text"),
        ({"text": " "}, "$.text"),
        ({"tags": ["ok", 3]}, "$.tags[1]"),
        ({"occurred_at": "yesterday"}, "$.occurred_at"),
    ],
    ids=str,
)
async def test_a_patch_that_makes_no_valid_row_names_the_field(librarian, ingest, namespace, patch, field):
    """The patched row is validated like any row, and nothing is changed."""
    await ingest(POOL, embed=False)
    with pytest.raises(InvalidInput) as caught:
        await librarian.patch_item(namespace, "pool", patch)
    assert caught.value.field == field
    assert (await librarian.get_item(namespace, "pool")).version == 1


async def test_a_patch_that_changes_nothing_makes_no_version(librarian, ingest, namespace):
    """An empty patch, or one with the values that are there, leaves version and history alone."""
    await ingest(POOL, embed=False)
    for patch in ({}, {"tags": ["db"]}, {"agent": None}):
        assert (await librarian.patch_item(namespace, "pool", patch)).version == 1
    assert (await librarian.revisions(namespace, "pool")).revisions == []


async def test_what_is_derived_follows_its_source(librarian, namespace):
    """A fact's text, object key and relation, and a name, follow unless somebody gave them."""
    await librarian.put_item(namespace, "f", FactIn(subject="Mia", predicate="leads", object="platform"))
    await librarian.put_item(
        namespace, "g", FactIn(subject="Mia", predicate="leads", object="platform", fact_object="p", text="said so")
    )
    derived = await librarian.patch_item(namespace, "f", {"object": "data", "predicate": "runs"})
    given = await librarian.patch_item(namespace, "g", {"object": "data"})
    assert (derived.text, derived.name) == ("Mia runs data", "Mia runs data")
    assert (derived.properties["fact_object"], derived.properties["relationship_type"]) == ("data", "runs")
    assert (given.text, given.properties["fact_object"], given.properties["object"]) == ("said so", "p", "data")


async def test_a_patched_item_survives_the_file_it_came_from(librarian, ingest, namespace):
    """Ingesting the row again changes nothing after a patch, and a changed row is taken."""
    await ingest(POOL, embed=False)
    await librarian.patch_item(namespace, "pool", {"text": "Decision: the pool has 50 connections"})
    again = await ingest(POOL, embed=False)
    assert (again.unchanged, again.updated) == (1, 0)
    assert (await librarian.get_item(namespace, "pool")).text == "Decision: the pool has 50 connections"
    assert (await ingest({**POOL, "text": "news"}, embed=False)).updated == 1


async def test_vectors_stay_while_the_text_does(librarian, ingest, executor, namespace):
    """A patch of other fields keeps the vector and renews its filter properties; one of the text makes it pending."""
    await ingest(POOL)
    (before,) = await vectors(executor, namespace, "pool")
    await librarian.patch_item(namespace, "pool", {"domain": "infra", "occurred_at": "2026-03-01T00:00:00Z"})
    (after,) = await vectors(executor, namespace, "pool")
    assert (after["id"], after["domain"], after["occurred_at"].year) == (before["id"], "infra", 2026)
    assert await librarian.embed_pending() == 0
    await librarian.patch_item(namespace, "pool", {"text": "something else"})
    assert await vectors(executor, namespace, "pool") == []
    assert await librarian.embed_pending() == 1
    assert len(await vectors(executor, namespace, "pool")) == 1


async def test_vectors_of_an_older_version_are_not_stored(librarian, ingest, executor, namespace):
    """Vectors of a text from before a patch that come after it are left out; the item stays pending."""
    await ingest(POOL)
    await librarian.patch_item(namespace, "pool", {"text": "something else"})
    space = librarian.parts.space
    vector = [1.0] * space.dimension
    for version, stored in ((1, 0), (2, 1)):
        assert await put_vectors(executor, space, [ItemVectors(namespace, "pool", version, [vector])]) == stored
        assert len(await vectors(executor, namespace, "pool")) == stored


async def test_a_changed_item_is_found_by_its_new_words_only(librarian, ingest, namespace):
    """Search reads what the item says now; its revisions are never found."""
    await ingest(POOL)
    await librarian.patch_item(namespace, "pool", {"text": "Decision: use zebras"})
    await librarian.embed_pending()
    for query, words in (("zebras", "Decision: use zebras"), ("pool connections 20", "Decision: use zebras")):
        answer = await librarian.search(namespace, SearchInput(queries=[query]))
        assert {hit.content for hit in answer.results} <= {words}
    assert (await librarian.search(namespace, SearchInput(queries=["zebras"]))).results


async def test_a_message_moves_to_another_conversation(librarian, ingest, executor, namespace):
    """The order of both conversations is right after a patch."""
    await ingest(
        *(
            {"kind": "message", "uid": f"m{n}", "conversation_id": "c", "text": f"turn {n}", "position": n}
            for n in range(3)
        ),
        embed=False,
    )
    await librarian.patch_item(namespace, "m1", {"conversation_id": "d"})
    found, _, _ = await executor.driver.execute_query(
        "MATCH (m:Message {namespace: $ns})-[:IN_CONVERSATION]->(c) "
        "OPTIONAL MATCH (m)-[:NEXT]->(n) "
        "RETURN m.uid AS uid, c.conversation_id AS c, collect(n.uid) AS next ORDER BY uid",
        {"ns": namespace},
    )
    assert [record.values() for record in found] == [["m0", "c", ["m2"]], ["m1", "d", []], ["m2", "c", []]]


async def test_remember_stores_the_same_content_once(librarian, namespace):
    """The same memory again is unchanged, also when somebody has patched it since."""
    first = await librarian.remember(namespace, RememberInput(text="the sky is blue", type="Insight"))
    await librarian.patch_item(namespace, first.item.uid, {"importance": 9})
    again = await librarian.remember(namespace, RememberInput(text="the sky is blue", type="Insight"))
    assert (first.outcome, again.outcome, again.item.uid) == ("added", "unchanged", first.item.uid)
    assert again.item.properties["importance"] == 9
    fact = await librarian.remember(
        namespace, RememberInput(kind="fact", subject="Mia", predicate="likes", object="tea")
    )
    assert (fact.item.kind, fact.item.text) == ("fact", "Mia likes tea")


@pytest.mark.parametrize(
    ("what", "field"),
    [
        (RememberInput(text="x", subject="Mia"), "$.subject"),
        (RememberInput(kind="fact", text="x", importance=3), "$.importance"),
        (RememberInput(kind="fact", subject="Mia"), "$.text"),
        (RememberInput(), "$.text"),
    ],
    ids=["a memory's subject", "a fact's importance", "half a fact", "nothing"],
)
async def test_remember_names_the_field_that_does_not_fit(librarian, namespace, what, field):
    """A field of the other kind, or a missing one, is named."""
    with pytest.raises(InvalidInput) as caught:
        await librarian.remember(namespace, what)
    assert caught.value.field == field


async def test_there_is_nothing_to_change_about_an_absent_item(librarian, namespace):
    """Patch, correct, delete and history of an unknown uid are 'not found', and leave no trace."""
    for attempt in (
        librarian.patch_item(namespace, "nobody", {"text": "x"}),
        librarian.delete_item(namespace, "nobody"),
        librarian.revisions(namespace, "nobody"),
    ):
        with pytest.raises(NotFound):
            await attempt
    with pytest.raises(NotFound):
        await librarian.get_item(namespace, "nobody")


async def test_the_same_uid_elsewhere_never_changes(librarian, ingest, executor, namespace):
    """Whatever is done to an item, the other namespace's item of that uid keeps every property and relationship."""
    other = f"{namespace}-other"
    rows = (POOL, {"kind": "fact", "uid": "f", "text": "old", "evidence": ["pool"], "person_id": "ada"})
    for into in (namespace, other):
        await ingest(*rows, into=into)

    async def whole() -> list[str]:
        found, _, _ = await executor.driver.execute_query(
            "MATCH (n {namespace: $ns}) RETURN labels(n), properties(n), [(n)-[r]-(o) | type(r)] ORDER BY elementId(n)",
            {"ns": other},
        )
        return [str(record.data()) for record in found]

    before = await whole()
    await librarian.put_item(namespace, "pool", MemoryIn(text="replaced"))
    await librarian.patch_item(namespace, "pool", {"text": "patched"})
    await librarian.patch_item(namespace, "f", {"text": "new"})
    await librarian.delete_item(namespace, "pool")
    await librarian.delete_item(namespace, "f")
    assert await whole() == before
