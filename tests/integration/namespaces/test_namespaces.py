"""Namespaces as a whole: counted, and deleted in two steps."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import pytest
from structlog.testing import capture_logs

from cypher.loader import load
from graph.executor import Executor
from graph.models import NODE_MODELS, Item, property_names
from librarian.app import Librarian
from librarian.base.errors import Conflict, NotFound
from librarian.items.contracts import LinkInput, NamespaceOut, UnlinkInput

ROWS: list[dict[str, Any]] = [
    {"kind": "message", "uid": "m1", "message_id": "m1", "conversation_id": "c", "author": "Ada", "text": "I moved"},
    {"kind": "message", "uid": "m2", "message_id": "m2", "conversation_id": "c", "author": "Bo", "text": "where to"},
    {"kind": "fact", "uid": "f", "text": "Ada moved", "person_id": "ada", "evidence": ["m1", "m2"]},
    {"kind": "memory", "uid": "k", "text": "ask Ada for her address"},
    {"kind": "edge", "source": "m1", "target": "k", "type": "CAUSES"},
    {"kind": "edge", "source": "k", "target": "m2", "type": "ENABLES"},
]  # fmt: skip
CHANGED = {"kind": "memory", "uid": "k", "text": "ask Ada for her new address"}


@pytest.fixture
def other(namespace: str) -> str:
    """A second namespace; its name begins like the first one's."""
    return f"{namespace}s"


@pytest.fixture(autouse=True)
async def tidy(executor: Executor, namespace: str, other: str) -> AsyncIterator[None]:
    yield
    await executor.driver.execute_query("MATCH (n) WHERE n.namespace IN $both DETACH DELETE n", both=[namespace, other])


@pytest.fixture
async def filled(ingest: Any, executor: Executor, namespace: str, other: str) -> str:
    """Two namespaces with the same items, vectors and a revision, joined by planted edges; and in the first one node
    of every other label that belongs to a namespace.
    """
    for name in (namespace, other):
        await ingest(*ROWS, into=name, embed=False)
        await ingest(CHANGED, into=name)
    await executor.driver.execute_query(
        "MATCH (a:Item {namespace: $ns}), (b:Item {namespace: $other}) "
        "CREATE (a)-[:CAUSES {edge_id: $ns + a.uid + b.uid}]->(b), (b)-[:EVIDENCED_BY]->(a) "
        "WITH a, b MATCH (b)-[:HAS_EMBEDDING|HAS_REVISION]->(part) MERGE (a)-[:HAS_EMBEDDING]->(part)",
        {"ns": namespace, "other": other},
    )
    await executor.driver.execute_query(
        "CREATE (:File {namespace: $ns, path: 'x'}), (:SweepRun {namespace: $ns, sweep_id: 's'}), "
        "(:IdempotencyRecord {namespace: $ns, key: 'k', response: '{}'}), (:Embedding {namespace: $ns, uid: 'lost'}), "
        "(:Revision {namespace: $ns, revision_id: 'lost'})",
        {"ns": namespace},
    )
    return namespace


async def snapshot(executor: Executor, namespace: str) -> list[Any]:
    """Every node of a namespace, and its relationships inside it; what was changed is told for a while longer."""
    found, _, _ = await executor.driver.execute_query(
        "MATCH (n:!ChangeLog&!ChangeSet {namespace: $ns}) OPTIONAL MATCH (n)-[r]->(m {namespace: $ns}) "
        "WITH n, collect([type(r), properties(r), elementId(m)]) AS links "
        "RETURN labels(n) AS labels, properties(n) AS properties, links ORDER BY elementId(n)",
        {"ns": namespace},
    )
    return [record.data() for record in found]


def audited(logs: Any) -> list[tuple[Any, ...]]:
    return [(log["action"], log["namespace"], log.get("items")) for log in logs if log["event"] == "audit"]


async def confirmed(librarian: Librarian, namespace: str) -> Any:
    """Preview and deletion, as a careful caller does it."""
    return await librarian.delete_namespace(
        namespace, (await librarian.delete_namespace(namespace, None)).confirm_token
    )


async def test_namespaces_are_listed_with_counts(ingest: Any, librarian: Librarian, namespace: str, other: str):
    """Items by kind and those without vectors; only what is allowed leaves, whatever else the graph holds."""
    await ingest(*ROWS)
    await ingest({"kind": "memory", "text": "no vector yet"}, embed=False)
    await ingest(ROWS[0], into=other, embed=False)
    listed = await librarian.namespaces(lambda name: name == namespace)
    assert listed.namespaces == [
        NamespaceOut(namespace=namespace, items=5, by_kind={"fact": 1, "memory": 2, "message": 2}, pending_embeddings=1)
    ]
    both = await librarian.namespaces(lambda name: name.startswith(namespace))
    assert [(found.namespace, found.items, found.pending_embeddings) for found in both.namespaces] == [
        (namespace, 5, 1),
        (other, 1, 1),
    ]
    assert (await librarian.namespaces(lambda name: False)).namespaces == []


async def test_a_preview_says_what_would_go(filled: str, librarian: Librarian, executor: Executor):
    """Everything that hangs on the items is counted, planted links to another namespace are not; nothing is changed."""
    before = await snapshot(executor, filled)
    with capture_logs() as logs:
        preview = await librarian.delete_namespace(filled, None)
    counts = preview.counts
    assert (counts.items, counts.by_kind) == (4, {"fact": 1, "memory": 1, "message": 2})
    assert (counts.edges, counts.evidence_links, counts.revisions, counts.embeddings) == (2, 2, 1, 4)
    assert [(brief.uid, brief.kind) for brief in preview.sample] == [
        ("f", "fact"), ("k", "memory"), ("m1", "message"), ("m2", "message"),
    ]  # fmt: skip
    assert (preview.deleted, bool(preview.confirm_token)) == (False, True)
    assert audited(logs) == []
    assert await snapshot(executor, filled) == before


async def test_a_confirmed_deletion_takes_all_and_nothing_else(
    filled: str, other: str, librarian: Librarian, executor: Executor
):
    """No node of the namespace is left; the other one, with the same uids and links into this one, is as before."""
    before = await snapshot(executor, other)
    preview = await librarian.delete_namespace(filled, None)
    with capture_logs() as logs:
        done = await librarian.delete_namespace(filled, preview.confirm_token)
    assert (done.deleted, done.counts, done.confirm_token) == (True, preview.counts, None)
    assert audited(logs) == [("namespace.delete", filled, 4)]
    assert await snapshot(executor, filled) == []
    assert await snapshot(executor, other) == before
    with pytest.raises(NotFound):
        await librarian.delete_namespace(filled, preview.confirm_token)


@pytest.mark.parametrize("token", [None, "anything"])
async def test_an_unknown_namespace_is_not_found(token: str | None, librarian: Librarian, namespace: str):
    """With or without a token."""
    with pytest.raises(NotFound):
        await librarian.delete_namespace(namespace, token)


async def add_item(librarian: Librarian, ingest: Any, namespace: str) -> None:
    await ingest({"kind": "memory", "text": "one more"}, embed=False)


async def change_item(librarian: Librarian, ingest: Any, namespace: str) -> None:
    await ingest({**ROWS[0], "text": "I moved away"}, embed=False)


async def replace_edge(librarian: Librarian, ingest: Any, namespace: str) -> None:
    await librarian.unlink(namespace, UnlinkInput(source="m1", type="CAUSES", target="k"))
    await librarian.link(namespace, LinkInput(source="m2", type="CAUSES", target="k"))


async def change_edge(librarian: Librarian, ingest: Any, namespace: str) -> None:
    await librarian.link(namespace, LinkInput(source="m1", type="CAUSES", target="k", confidence=0.5))


@pytest.mark.parametrize("change", [add_item, change_item, replace_edge, change_edge], ids=lambda verb: verb.__name__)
async def test_a_write_makes_a_token_stale(
    change: Any, filled: str, ingest: Any, librarian: Librarian, executor: Executor
):
    """The preview is out of date: nothing is deleted until it has been looked at again."""
    token = (await librarian.delete_namespace(filled, None)).confirm_token
    await change(librarian, ingest, filled)
    before = await snapshot(executor, filled)
    with pytest.raises(Conflict) as fault:
        await librarian.delete_namespace(filled, token)
    assert fault.value.field == "$.confirm_token"
    assert await snapshot(executor, filled) == before


async def test_vectors_that_come_meanwhile_leave_a_token_valid(ingest: Any, librarian: Librarian, namespace: str):
    """The worker adds them without anybody's order."""
    await ingest(*ROWS, embed=False)
    token = (await librarian.delete_namespace(namespace, None)).confirm_token
    await librarian.embed_pending()
    assert (await librarian.delete_namespace(namespace, token)).deleted


async def test_a_token_is_of_one_namespace(filled: str, other: str, librarian: Librarian):
    """The token of another namespace, though it holds the same, deletes nothing."""
    token = (await librarian.delete_namespace(other, None)).confirm_token
    with pytest.raises(Conflict):
        await librarian.delete_namespace(filled, token)


@pytest.mark.parametrize("nodes", [1, 5, 9])
async def test_an_interrupted_deletion_can_be_ended(nodes: int, filled: str, librarian: Librarian, executor: Executor):
    """After some nodes went and the process died, the namespace is still found, and the next deletion ends it."""
    await executor.write("delete_namespace_items", {"namespace": filled, "limit": nodes})
    assert (await confirmed(librarian, filled)).deleted
    assert await snapshot(executor, filled) == []


async def test_a_deletion_interrupted_behind_the_items_can_be_ended(
    filled: str, librarian: Librarian, executor: Executor
):
    """Without an item the namespace still exists while any node names it."""
    await executor.driver.execute_query("MATCH (n:Item {namespace: $ns}) DETACH DELETE n", {"ns": filled})
    preview = await librarian.delete_namespace(filled, None)
    assert (preview.counts.items, preview.sample) == (0, [])
    assert (await librarian.delete_namespace(filled, preview.confirm_token)).deleted
    assert await snapshot(executor, filled) == []


async def test_more_nodes_than_one_transaction_takes(librarian: Librarian, executor: Executor, namespace: str):
    """Chunk after chunk until nothing is left, items and what outlives them."""
    await executor.driver.execute_query(
        "UNWIND range(1, 2500) AS i CREATE (:Person {namespace: $ns, person_id: toString(i)}) "
        "CREATE (:Item:Memory {namespace: $ns, uid: toString(i), kind: 'memory', name: 'n', text: 't'})",
        {"ns": namespace},
    )
    assert (await confirmed(librarian, namespace)).counts.items == 2500
    assert await snapshot(executor, namespace) == []


async def test_two_deletions_at_once_both_end_well(filled: str, librarian: Librarian, executor: Executor):
    """The same confirmed request twice at a time, as an impatient client sends it."""
    token = (await librarian.delete_namespace(filled, None)).confirm_token
    answers = await asyncio.gather(
        *(librarian.delete_namespace(filled, token) for _ in range(4)), return_exceptions=True
    )
    assert any(not isinstance(answer, Exception) for answer in answers)
    faults = [answer for answer in answers if isinstance(answer, Exception)]
    assert all(isinstance(fault, NotFound | Conflict) for fault in faults), faults
    assert await snapshot(executor, filled) == []


async def test_what_is_acknowledged_while_a_namespace_is_deleted_stays(
    ingest: Any, librarian: Librarian, namespace: str
):
    """Ingests beside confirmed deletions: whatever was stored and not counted as deleted is there afterwards."""
    rows = [{"kind": "message", "text": f"row {n}", "conversation_id": "c", "message_id": str(n)} for n in range(240)]
    await ingest(*rows[:60], embed=False)
    stored, deleted = 60, 0

    async def write(batch: list[dict[str, Any]]) -> None:
        nonlocal stored
        for row in batch:
            report = await ingest(row, embed=False)
            stored += report.added

    async def delete() -> None:
        nonlocal deleted
        for _ in range(12):
            with suppress(NotFound, Conflict):
                done = await confirmed(librarian, namespace)
                deleted += done.counts.items

    await asyncio.gather(*(write(rows[start::12]) for start in range(60, 72)), delete())
    (left,) = (await librarian.namespaces(lambda name: name == namespace)).namespaces or [None]
    assert stored - deleted == (left.items if left else 0)


async def test_what_is_written_after_the_deletion_has_begun_stays(
    ingest: Any, librarian: Librarian, executor: Executor, namespace: str
):
    """The deletion stands still half-way, at an item that another transaction holds; what is stored and changed
    meanwhile is kept, and what is counted as deleted is what went.
    """
    await executor.driver.execute_query(
        "UNWIND range(1, 1500) AS i CREATE (:Item:Memory {namespace: $ns, uid: 'old' + right('000' + toString(i), 4), "
        "kind: 'memory', name: 'n', text: 't', version: 1})",
        {"ns": namespace},
    )
    token = (await librarian.delete_namespace(namespace, None)).confirm_token
    async with executor.driver.session() as session, await session.begin_transaction() as holding:
        await holding.run("MATCH (m:Item {namespace: $ns, uid: 'old1400'}) REMOVE m:Locked", {"ns": namespace})
        deleting = asyncio.create_task(librarian.delete_namespace(namespace, token))
        while await count_items(executor, namespace) == 1500:
            await asyncio.sleep(0.02)
        rows = [{"kind": "message", "uid": f"new{n}", "text": f"row {n}", "conversation_id": "c"} for n in range(40)]
        reports = await asyncio.gather(*(ingest(row, embed=False) for row in rows))
        await holding.rollback()
    done = await deleting
    assert [report.added for report in reports] == [1] * 40
    assert (done.counts.items, done.kept) == (1500, 0)
    assert await count_items(executor, namespace) == 40


async def count_items(executor: Executor, namespace: str) -> int:
    found, _, _ = await executor.driver.execute_query(
        "MATCH (m:Item {namespace: $ns}) RETURN count(m) AS items", {"ns": namespace}
    )
    return int(found[0]["items"])


async def test_a_chain_of_superseded_facts_goes_whole(ingest: Any, librarian: Librarian, executor: Executor, namespace):
    """Deleting a fact raises no version of another one that goes too; nothing is kept that nobody has changed."""
    facts = [
        {"kind": "fact", "uid": f"f{n}", "text": f"Ada lives in city {n}", "valid_from": f"20{n:02}-01-01T00:00:00Z",
         **({"supersedes": [f"f{n - 1}"]} if n > 10 else {})}
        for n in range(10, 30)
    ]  # fmt: skip
    await ingest(*facts, embed=False)
    done = await confirmed(librarian, namespace)
    assert (done.counts.items, done.kept) == (20, 0)
    assert await snapshot(executor, namespace) == []


def test_the_deletion_names_every_label_that_has_a_namespace():
    """A new kind of node with a namespace must not outlive it; kept answers go by a statement of their own, and that
    something was forgotten stays.
    """
    owned = {
        label for label, model in NODE_MODELS.items() if "namespace" in property_names(model)
        and (model is Item or not issubclass(model, Item))
    } - {
        "IdempotencyRecord", "Tombstone", "TombstoneMark", "TombstoneSalts", "ChangeLog", "ChangeSet", "Webhook",
    }  # fmt: skip
    for name in ("delete_namespace_rest", "delete_namespace_unused", "namespace_exists"):
        (labels,) = [part for part in load()[name].text.replace("(n:", "\n(n:").splitlines() if part.startswith("(n:")]
        assert set(labels.removeprefix("(n:").split(")")[0].split("|")) == owned
