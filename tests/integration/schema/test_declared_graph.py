"""The declared graph, compared with the run's migrated server and with what ingest stores there."""

from datetime import UTC, datetime, timedelta, timezone

from graph.models import MARKERS, NODE_MODELS, Fact, Memory, Message, edge_types, inflate_item, property_names
from graph.schema import differences

ROWS = (
    {
        "kind": "message",
        "message_id": "m1",
        "conversation_id": "c",
        "author": "Ada",
        "text": "Kyoto 京都?",
        "position": 1,
    },
    {
        "kind": "message",
        "message_id": "m2",
        "conversation_id": "c",
        "author": "Bo",
        "text": "Yes, in May.",
        "position": 2,
    },
    {
        "kind": "memory",
        "uid": "problem",
        "text": "The build is slow.",
        "type": "Problem",
        "importance": 7,
        "agent": "a",
    },
    {"kind": "memory", "uid": "decision", "text": "Cache the wheels.", "type": "Decision", "tags": ["ci"]},
    {
        "kind": "fact",
        "uid": "old",
        "text": "Ada lives in Bonn.",
        "person_id": "ada",
        "valid_from": "2020-01-01T00:00:00Z",
    },
    {
        "kind": "fact",
        "uid": "new",
        "subject": "Ada",
        "predicate": "lives in",
        "object": "Kyoto",
        "person_id": "ada",
        "attributes": {"since": 2026},
        "confidence": 0.9,
        "valid_from": "2026-05-01T00:00:00+09:00",
        "evidence": ["m1"],
        "supersedes": ["old"],
    },
    {"kind": "edge", "source": "problem", "target": "decision", "type": "CAUSES", "confidence": 0.8, "reason": "slow"},
)
STORED = {"Item", "Message", "Memory", "Fact", "Person", "Conversation", "Embedding"}
LINKED = {"HAS_EMBEDDING", "IN_CONVERSATION", "NEXT", "ABOUT", "EVIDENCED_BY", "SUPERSEDES", "CAUSES", "REFUSED_BY"}


async def test_the_migrated_server_has_the_declared_schema(executor):
    """Names, types, labels, properties, analyzers and states are those of graph/schema.py."""
    assert await differences(executor) == []


async def test_every_stored_label_and_property_is_declared(executor, ingest, namespace):
    """Ingest stores nothing that graph/models.py does not tell of."""
    assert (await ingest(*ROWS)).failed == 0
    rows = await executor.run_migration(
        "MATCH (n {namespace: $namespace}) RETURN labels(n) AS labels, collect(keys(n)) AS keys",
        {"namespace": namespace},
    )
    assert {label for row in rows for label in row["labels"]} >= STORED
    for row in rows:
        models = [NODE_MODELS[label] for label in row["labels"] if label in NODE_MODELS]
        others = [label for label in row["labels"] if label not in NODE_MODELS and not label.startswith("Embedding_")]
        assert set(others) <= MARKERS.keys()
        declared = {name for model in models for name in property_names(model)}
        assert {key for keys in row["keys"] for key in keys} <= declared, row["labels"]


async def test_every_stored_relationship_is_declared(executor, ingest, namespace):
    """So it is with relationship types and their properties."""
    assert (await ingest(*ROWS)).failed == 0
    rows = await executor.run_migration(
        "MATCH ({namespace: $namespace})-[r]->() RETURN type(r) AS type, collect(keys(r)) AS keys",
        {"namespace": namespace},
    )
    assert {row["type"] for row in rows} == LINKED
    for row in rows:
        model = edge_types()[row["type"]]
        declared = property_names(model) if model else frozenset()
        assert {key for keys in row["keys"] for key in keys} <= declared, row["type"]


async def test_what_ingest_stored_is_inflated(executor, ingest, namespace):
    """get_item's node becomes a typed object, maps and native times included."""
    assert (await ingest(*ROWS)).failed == 0
    row = await executor.fetch_one("get_item", {"namespace": namespace, "uid": "new"})
    fact = inflate_item(row["node"])
    assert isinstance(fact, Fact)
    assert fact.attributes == {"since": 2026}
    assert fact.valid_from == datetime(2026, 4, 30, 15, tzinfo=UTC)
    assert fact.created_at.tzinfo is not None
    assert fact.evidence_refs == ["m1"]


async def test_a_node_written_by_plain_cypher_is_inflated_with_typed_values(executor, namespace):
    """Zones stay, lists are lists, numbers are numbers, absent is None, and labels of others do not matter."""
    (row,) = await executor.run_migration(
        """CREATE (m:Item:Memory:Starred {namespace: $namespace, uid: 'u', kind: 'memory', text: 't', tags: ['a', 'b'],
             importance: 3, type_confidence: 0.5, occurred_at: datetime('2026-05-01T09:00:00+09:00'), starred: true})
           RETURN m AS node""",
        {"namespace": namespace},
    )
    memory = inflate_item(row["node"])
    assert isinstance(memory, Memory)
    assert not isinstance(memory, Message)
    assert (memory.tags, memory.importance, memory.type_confidence, memory.agent) == (["a", "b"], 3, 0.5, None)
    assert memory.occurred_at == datetime(2026, 5, 1, 9, tzinfo=timezone(timedelta(hours=9)))
    assert memory.occurred_at.utcoffset() == timedelta(hours=9)
