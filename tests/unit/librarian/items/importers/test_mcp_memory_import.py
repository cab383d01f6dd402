def test_observations_and_relations_are_facts(read, exports):
    rows, _ = read("mcp-memory", exports / "memory.jsonl")
    assert rows[0] == {
        "kind": "fact",
        "subject": "Mara",
        "person_id": "Mara",
        "fact_type": "person",
        "text": "Works on the export job",
    }
    assert (rows[2]["subject"], rows[2]["valid_from"]) == ("恵子", "2024-05-02T08:00:00Z")
    assert rows[3] == {
        "kind": "fact",
        "subject": "Mara",
        "predicate": "works_at",
        "object": "Initech",
        "text": "Mara works at Initech",
    }


def test_lines_that_cannot_be_taken_are_named(read, exports):
    _, report = read("mcp-memory", exports / "memory.jsonl")
    assert [error.message.partition(":")[0] for error in report.errors] == [
        "memory.jsonl line 5",
        "memory.jsonl line 6",
    ]
    assert report.notes == ["Left out, entities without observations: 1"]


def test_each_observation_stands_for_itself(read):
    entity = {"type": "entity", "name": "A", "entityType": None, "observations": ["good", 7, None, {"no": "content"}]}
    rows, report = read("mcp-memory", entity, "memory.json")
    assert [row["text"] for row in rows] == ["good", "7"]
    assert [error.line for error in report.errors] == [3, 4]
