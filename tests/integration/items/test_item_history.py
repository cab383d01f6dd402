"""Revisions: what a fact or memory was before each change."""

from datetime import UTC, datetime

from librarian.base.audit import actor
from librarian.items.contracts import Correction, FactIn, MemoryIn

FACT = FactIn(
    subject="Mia", predicate="leads", object="platform", person_id="mia", attributes={"since": 2024}, confidence=0.5,
    valid_from=datetime(2026, 1, 1, tzinfo=UTC), tags=["org"], evidence=["m1"],
)  # fmt: skip


async def stored(executor, query: str, **params):
    found, _, _ = await executor.driver.execute_query(query, params)
    return [record.data() for record in found]


async def test_a_revision_is_the_whole_item_as_it_was(librarian, executor, ingest, namespace):
    """Every stored property comes back natively, but for what is derived for full text."""
    await ingest(
        {"kind": "memory", "uid": "k", "text": "東京 one", "type": "Decision", "importance": 3, "tags": ["a", "b"],
         "agent": "scribe", "occurred_at": "2026-03-01T09:00:00.123456+09:00"}
    )  # fmt: skip
    query = "MATCH (m:Item {namespace: $ns, uid: 'k'}) RETURN properties(m) AS p"
    (before,) = await stored(executor, query, ns=namespace)
    await librarian.patch_item(namespace, "k", {"text": "two", "tags": None, "importance": 5})
    (revision,) = await stored(
        executor,
        "MATCH (:Item {namespace: $ns, uid: 'k'})-[:HAS_REVISION]->(r:Revision {namespace: $ns}) "
        "RETURN properties(r) AS p, labels(r) AS labels",
        ns=namespace,
    )
    own = {name: revision["p"].pop(name) for name in ("revision_id", "reason", "actor", "revised_at")}
    assert revision["p"] == {n: v for n, v in before["p"].items() if n not in ("search_text", "tokens")}
    assert (own["reason"], own["actor"], revision["labels"]) == ("patch", "python", ["Revision"])


async def test_every_way_of_changing_keeps_a_revision_and_says_who_and_why(librarian, ingest, namespace):
    """put, patch, correct and ingest each leave one, newest first, with the version it had."""
    token = actor.set("key-7")
    try:
        await librarian.put_item(namespace, "k", MemoryIn(text="one"))
        await librarian.put_item(namespace, "k", MemoryIn(text="two"))
        await librarian.patch_item(namespace, "k", {"text": "three"})
        await librarian.correct(namespace, "k", Correction(text="four", reason="misheard"))
        await ingest({"kind": "memory", "uid": "k", "text": "five"}, embed=False)
    finally:
        actor.reset(token)
    history = (await librarian.revisions(namespace, "k")).revisions
    assert [(r.version, r.text, r.reason, r.actor) for r in history] == [
        (4, "four", "ingest", "key-7"),
        (3, "three", "misheard", "key-7"),
        (2, "two", "patch", "key-7"),
        (1, "one", "put", "key-7"),
    ]
    assert [r.revised_at for r in history] == sorted((r.revised_at for r in history), reverse=True)


async def test_a_facts_revision_shows_what_the_item_showed(librarian, namespace):
    """The properties of a revision are those that the item had on the wire."""
    before = (await librarian.put_item(namespace, "f", FACT)).item
    await librarian.patch_item(namespace, "f", {"object": "data"})
    (revision,) = (await librarian.revisions(namespace, "f")).revisions
    assert revision.properties == before.properties
    assert (revision.name, revision.text) == (before.name, before.text)


async def test_messages_keep_no_revision(librarian, ingest, namespace):
    """A record of what was said is replaced without history."""
    await ingest({"kind": "message", "uid": "m", "text": "hi"}, embed=False)
    await librarian.patch_item(namespace, "m", {"text": "hello"})
    assert (await librarian.revisions(namespace, "m")).revisions == []
