def test_conversations_become_messages_as_they_were_read(read, exports):
    rows, report = read("claude", exports / "claude")
    first = {
        "kind": "message",
        "message_id": "m-1",
        "text": "Why does crane 4 raise E17 at low tide?",
        "caption": "alarms.csv\ncrane.jpg",
        "role": "user",
        "conversation_id": "0b8f2c5e-6f0e-4d0c-9a57-31c1f1f6c001",
        "position": 0,
        "sent_at": "2025-06-03T08:12:11.204518Z",
        "tags": ["Quay crane alarms"],
    }
    assert rows[0] == first
    assert (rows[1]["text"], rows[1]["author_name"]) == ("The limit switch is wet below 0.8 m.", "Claude")
    assert [(row["text"], row["role"]) for row in rows[2:4]] == [("switch.png", "user"), ("潮位表はどこ？", "user")]
    assert [error.message for error in report.errors] == [
        "conversations.json entry 2 message 1: not a message: an object with the sender human or assistant is expected",
        "conversations.json entry 3: not a conversation: an object with chat_messages is expected",
    ]
    assert report.notes == ["Left out, messages without text (only tools or reasoning): 1"]


def test_what_claude_noted_becomes_memories(read, exports):
    rows, _ = read("claude", exports / "claude")
    assert [(row["uid"], row["text"]) for row in rows if row["kind"] == "memory"] == [
        ("claude-memory-acc-1", "**Work context**\n\nRuns the cranes of a harbour."),
        ("claude-memory-p-77", "The alarms project uses Python 3.11."),
    ]


def test_a_zip_and_one_file_are_read_alike(read, exports, zipped):
    rows, _ = read("auto", zipped(exports / "claude"), "data-2025-06-03.zip")
    alone, _ = read("auto", exports / "claude" / "conversations.json")
    assert rows[: len(alone)] == alone
    assert len(rows) == len(alone) + 2
