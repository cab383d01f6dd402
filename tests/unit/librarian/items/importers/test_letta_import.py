import json


def test_blocks_become_memories_and_what_was_said_messages(read, exports):
    rows, report = read("letta", exports / "harbour.af")
    assert rows[0] == {
        "kind": "memory",
        "uid": "letta-Harbour:block-0",
        "name": "human",
        "text": "Mara runs the north quay.",
        "tags": ["block:human"],
        "agent": "Harbour",
        "source": "letta",
    }
    assert [(row["message_id"], row["role"], row["author_name"], row["text"]) for row in rows[1:]] == [
        ("message-1", "user", "Mara", "Crane 4 is closed on Mondays."),
        ("message-2", "assistant", "Harbour", "Noted: closed on Mondays."),
        ("message-5", "assistant", "Harbour", "Anything else?"),
    ]
    assert report.errors == []
    assert report.notes == [
        "Left out, empty blocks of memory: 1",
        "Left out, messages that are not said to anybody (system, tools, events, thoughts): 3",
    ]


def test_the_first_form_is_one_agent(read):
    agent = {
        "agent_type": "memgpt_agent",
        "name": "Quay",
        "core_memory": [{"label": "human", "value": "Keiko likes brevity."}],
        "messages": [{"role": "user", "text": "Hello", "created_at": "2025-01-01T00:00:00"}],
    }
    rows, _ = read("auto", json.dumps(agent).encode(), "quay.af")
    assert [(row["kind"], row["text"]) for row in rows] == [("memory", "Keiko likes brevity."), ("message", "Hello")]
    assert rows[1]["conversation_id"] == "Quay"


def test_archival_memory_is_read_as_its_api_lists_it(read):
    passage = {"id": "passage-1", "text": "Berth 3 floods.", "created_at": "2025-01-01T00:00:00Z", "tags": ["tide"]}
    rows, report = read("letta", [passage, {"id": "passage-2"}])
    assert (rows[0]["uid"], rows[0]["tags"], rows[0]["occurred_at"]) == (
        "letta-passage-1", ["tide"], "2025-01-01T00:00:00Z",
    )  # fmt: skip
    assert len(report.errors) == 1
