"""Ingest on the real graph: idempotent, complete, and honest about every fault."""

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from graph.executor import Executor
from graph.models import Memory
from librarian.app import Librarian
from librarian.base.errors import NotFound
from librarian.search.contracts import SearchInput

MESSAGES = [
    {
        "kind": "message",
        "message_id": f"m{i}",
        "conversation_id": "c1",
        "author": "Ada",
        "text": f"turn {i}",
        "position": i,
    }
    for i in range(5)
]


async def test_the_same_input_twice_changes_nothing(ingest: Any):
    """The second run reports every row as unchanged, edges and anonymous rows included."""
    rows = [
        *MESSAGES,
        {"kind": "message", "conversation_id": "c1", "author": "Bo", "text": "ok"},
        {"kind": "message", "conversation_id": "c1", "author": "Bo", "text": "ok"},
        {"kind": "memory", "uid": "k1", "text": "a"},
        {"kind": "memory", "uid": "k2", "text": "b"},
        {"kind": "edge", "source": "k1", "target": "k2", "type": "CAUSES"},
    ]
    first = await ingest(*rows)
    second = await ingest(*rows)
    assert (first.added, first.failed) == (len(rows), 0)
    assert (second.unchanged, second.added, second.updated, second.failed) == (len(rows), 0, 0, 0)


async def test_one_bad_row_loses_no_other(ingest: Any, librarian: Librarian, namespace: str):
    """Each fault is reported with its line, field and reason; the rows around it are stored."""
    report = await ingest(
        {"kind": "memory", "uid": "good-1", "text": "kept"},
        {"kind": "memory", "uid": "bad", "text": "x", "importance": 11},
        {"kind": "memory", "text": "y", "colour": "red"},
        {"kind": "fact", "subject": "only a subject"},
        {"kind": "planet", "text": "z"},
        {"kind": "fact", "text": "t", "valid_from": "2026-02-01T00:00:00Z", "valid_to": "2026-01-01T00:00:00Z"},
        {"kind": "edge", "source": "good-1", "target": "nobody", "type": "BLOCKS"},
        {"kind": "edge", "source": "good-1", "target": "good-1", "type": "BLOCKS"},
        {"kind": "memory", "text": "  \u0000 "},
        {"kind": "memory", "uid": "good-2", "text": "kept too"},
    )
    assert (report.added, report.failed) == (2, 8)
    assert [(e.line, e.field) for e in report.errors] == [
        (2, "$.importance"), (3, "$.colour"), (4, "$.text"), (5, "$.kind"), (6, "$.valid_to"), (7, "$.target"),
        (8, "$.target"), (9, "$.text"),
    ]  # fmt: skip
    assert report.errors[5].message == "no item of this namespace has the uid 'nobody'"
    assert (await librarian.get_item(namespace, "good-2")).text == "kept too"
    with pytest.raises(NotFound):
        await librarian.get_item(namespace, "bad")


async def test_a_changed_memory_keeps_what_it_said(ingest: Any, executor: Executor, namespace: str):
    """A changed row is an update: the old text stays as a revision and the old vector goes."""
    await ingest({"kind": "memory", "uid": "k", "text": "the pool has 20 connections"})
    report = await ingest({"kind": "memory", "uid": "k", "text": "the pool has 50 connections"})
    found, _, _ = await executor.driver.execute_query(
        "MATCH (m:Memory {namespace: $ns, uid: 'k'})-[:HAS_REVISION]->(r) "
        "RETURN m.text AS now, r.text AS before, COUNT { (m)-[:HAS_EMBEDDING]->() } AS vectors",
        {"ns": namespace},
    )
    assert report.updated == 1
    assert [record.data() for record in found] == [
        {"now": "the pool has 50 connections", "before": "the pool has 20 connections", "vectors": 1}
    ]


async def test_a_uid_of_another_kind_is_refused(ingest: Any, librarian: Librarian, namespace: str):
    """A message cannot silently become a memory."""
    await ingest({"kind": "memory", "uid": "x", "text": "a memory"})
    report = await ingest({"kind": "message", "uid": "x", "text": "a message"})
    assert [(error.code, error.line) for error in report.errors] == [("uid_taken", 1)]
    assert (await librarian.get_item(namespace, "x")).kind == "memory"


async def test_facts_find_their_evidence_whenever_it_comes(ingest: Any, librarian: Librarian, namespace: str):
    """Facts may come before the messages that support them; the link appears with the message."""
    fact = {"kind": "fact", "uid": "f", "text": "Ada moved to Lisbon", "evidence": ["late"]}
    first = await ingest(fact)
    assert "1 items name evidence" in first.notes[0]
    second = await ingest({"kind": "message", "message_id": "late", "author": "Ada", "text": "I moved to Lisbon!"})
    assert second.notes == []
    evidence = (await librarian.get_item(namespace, "f")).evidence
    assert [(source.message_id, source.content) for source in evidence] == [("late", "I moved to Lisbon!")]


async def test_a_newer_fact_ends_the_older_one(ingest: Any, librarian: Librarian, namespace: str):
    """A superseded fact is not found, unless somebody asks for the time when it held."""
    await ingest(
        {"kind": "fact", "uid": "old", "text": "The pool size is 20", "valid_from": "2026-01-01T00:00:00Z"},
        {"kind": "fact", "uid": "new", "text": "The pool size is 50", "valid_from": "2026-03-01T00:00:00Z",
         "supersedes": ["old"]},
    )  # fmt: skip

    async def found(**filters: Any) -> list[str]:
        query = {"queries": ["pool size"], "filters": filters}
        answer = await librarian.search(namespace, msgspec.convert(query, SearchInput))
        return [hit.uid for hit in answer.results]

    assert await found() == ["new"]
    assert await found(as_of="2026-02-01T00:00:00Z") == ["old"]
    assert await found(as_of="2026-04-01T00:00:00Z") == ["new"]


async def test_conversations_keep_their_order(ingest: Any, executor: Executor, namespace: str):
    """NEXT runs through a conversation by time and position, also after a message came in between."""
    await ingest(*MESSAGES[:2], *MESSAGES[3:])
    await ingest(MESSAGES[2])
    found, _, _ = await executor.driver.execute_query(
        "MATCH p = (first:Message {namespace: $ns})-[:NEXT*]->(last) "
        "WHERE NOT ()-[:NEXT]->(first) AND NOT (last)-[:NEXT]->() "
        "RETURN [m IN nodes(p) | m.text] AS texts",
        {"ns": namespace},
    )
    assert [record["texts"] for record in found] == [[f"turn {i}" for i in range(5)]]


async def test_hostile_texts_are_stored_and_found(ingest: Any, librarian: Librarian, namespace: str):
    """NUL, Lucene operators and very long texts neither break ingest nor search."""
    long_text = "a sentence about nothing in particular. " * 20_000 + "needle in the haystack"
    report = await ingest(
        {"kind": "memory", "uid": "nul", "text": "before\u0000after"},
        {"kind": "memory", "uid": "long", "text": long_text},
        {"kind": "memory", "uid": "too-long", "text": "x" * 10_000_000},
    )
    assert (report.added, [error.field for error in report.errors]) == (2, ["$.text"])
    assert (await librarian.get_item(namespace, "nul")).text == "before after"
    answer = await librarian.search(namespace, SearchInput(queries=["needle haystack"]))
    assert answer.results[0].uid == "long"


async def test_python_users_get_typed_objects(ingest: Any, librarian: Librarian, namespace: str):
    """An item is read as an object of its class, with native times; another namespace's item is not found."""
    await ingest(
        {"kind": "memory", "uid": "k", "text": "x", "type": "Insight", "occurred_at": "2026-03-01T09:00:00+09:00"}
    )
    found = await librarian.get_object(namespace, "k")
    assert isinstance(found, Memory)
    assert (found.type, found.occurred_at) == ("Insight", datetime(2026, 3, 1, tzinfo=UTC))
    with pytest.raises(NotFound):
        await librarian.get_object("somebody-else", "k")
