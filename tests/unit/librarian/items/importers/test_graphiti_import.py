def test_edges_become_facts_between_named_nodes_with_their_evidence(read, exports):
    rows, _ = read("graphiti", exports / "graphiti")
    facts = [row for row in rows if row["kind"] == "fact"]
    assert facts[0] == {
        "kind": "fact",
        "uid": "graphiti-e-1",
        "text": "Mara works at Initech",
        "subject": "Mara",
        "predicate": "works at",
        "object": "Initech",
        "valid_from": "2024-03-01T00:00:00Z",
        "valid_to": "2025-05-01T00:00:00Z",
        "evidence": ["graphiti-ep-1"],
        "tags": ["group:harbour"],
    }
    assert {"object", "valid_from", "valid_to"}.isdisjoint(facts[1])


def test_episodes_become_messages_and_summaries_memories(read, exports):
    rows, report = read("graphiti", exports / "graphiti")
    assert [(row["uid"], row.get("author_name"), row["conversation_id"], row["sent_at"]) for row in rows[:2]] == [
        ("graphiti-ep-1", "support chat", "harbour", "2025-02-01T09:59:00Z"),
        ("graphiti-ep-2", "Keiko", "t-5", "2025-05-02T00:00:00Z"),
    ]
    assert (rows[2]["text"], rows[2]["tags"]) == (
        "Mara: Crane engineer at the north quay.",
        ["Person", "group:harbour"],
    )
    assert [error.message.partition(": ")[0] for error in report.errors] == ["episodes.jsonl record 4"]
    assert [note.partition(":")[0] for note in report.notes] == [
        "Left out, episodes without text",
        "Left out, nodes without a summary; facts name them",
        "Items stored without a time, which could not be read",
    ]


def test_a_fact_that_ended_as_it_began_has_only_an_end(read):
    at = "2025-05-01T00:00:00Z"
    rows, _ = read("graphiti", [{"uuid": "e", "fact": "x", "source_node_uuid": "n", "valid_at": at, "expired_at": at}])
    assert ("valid_from" in rows[0], rows[0]["valid_to"]) == (False, at)
