def test_memories_keep_what_mem0_knows(read, exports):
    rows, report = read("mem0", exports / "mem0.json")
    assert rows[0] == {
        "kind": "memory",
        "uid": "mem0-892db2ae-06d9-49e5-8b3e-585ef9b85b8e",
        "text": "Prefers the nightly export as Parquet instead of CSV",
        "importance": 7,
        "domain": "export",
        "tags": ["user_preferences", "technology", "user:mara", "channel:email"],
        "agent": "support-bot",
        "source": "mem0",
        "occurred_at": "2024-07-26T17:29:36.630547Z",
    }
    assert (rows[1]["text"], rows[1]["tags"]) == (
        "毎週金曜日の午後は会議を入れない",
        ["user:keiko", "app:calendar", "run:run-17"],
    )
    assert (rows[2]["type"], rows[2]["occurred_at"]) == ("Decision", "2024-08-01T09:00:00Z")
    assert [error.message for error in report.errors] == [
        'mem0.json memory 4: no text in "memory"',
        "mem0.json relation 3: source, relationship and target are needed",
    ]


def test_what_cannot_be_read_of_a_memory_is_left_out_and_counted(read, exports):
    rows, report = read("mem0", exports / "mem0.json")
    assert "occurred_at" not in rows[3]
    assert "importance" not in rows[2]
    assert [note.rpartition(": ")[2] for note in report.notes] == ["1", "1"]


def test_relations_are_facts_whose_words_can_be_searched(read, exports):
    rows, _ = read("mem0", exports / "mem0.json")
    assert rows[4:] == [
        {
            "kind": "fact",
            "subject": "mara",
            "predicate": "works_at",
            "object": "initech",
            "text": "mara works at initech",
        },
        {
            "kind": "fact",
            "subject": "keiko",
            "predicate": "lives_in",
            "object": "kyoto",
            "text": "keiko lives in kyoto",
        },
    ]


def test_a_bare_list_is_an_export_too(read):
    rows, _ = read("auto", [{"id": "a/b", "memory": "x"}, {"memory": "without an id"}])
    assert rows[0]["uid"].startswith("mem0-")
    assert "/" not in rows[0]["uid"]
    assert "uid" not in rows[1]


def test_a_backup_of_openmemory(read):
    backup = {
        "user": {"id": "u"},
        "categories": [{"id": "k1", "name": "work"}],
        "memories": [
            {"id": "1", "content": "kept", "state": "active", "category_ids": ["k1"]},
            {"id": "2", "content": "gone", "state": "deleted", "category_ids": []},
        ],
    }
    rows, report = read("auto", backup, "memories.json")
    assert [(row["text"], row["tags"]) for row in rows] == [("kept", ["work"])]
    assert report.notes == ["Left out, memories that were archived or deleted: 1"]


def test_another_shape_is_said(read):
    _, report = read("mem0", {"professional_profile": {"name": "Mara"}})
    assert "a list, or an object" in report.errors[0].message
