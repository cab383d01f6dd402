import pytest


@pytest.fixture
def messages(read, exports):
    rows, report = read("chatgpt", exports / "conversations.json")
    return {row["message_id"]: row for row in rows}, report


def test_the_visible_branch_in_order(messages):
    rows, _ = messages
    assert list(rows) == ["u1", "a1", "u2b", "a2b", "v1", "v2"]
    assert [row["position"] for row in rows.values()] == [1, 2, 3, 5, 0, 1]
    assert {row["conversation_id"][-1] for row in rows.values()} == {"1", "2"}


def test_a_message_has_its_author_and_time(messages):
    rows, _ = messages
    assert rows["a1"] == {
        "kind": "message",
        "message_id": "a1",
        "text": "Kiyomizu-dera opens at six.",
        "role": "assistant",
        "author_name": "ChatGPT",
        "conversation_id": "c0ffee00-0000-4000-8000-000000000001",
        "position": 2,
        "sent_at": "2024-03-01T09:30:10.500000Z",
        "tags": ["Trip to Kyoto"],
    }
    assert rows["a2b"]["sent_at"] == rows["u2b"]["sent_at"], "a message without a time has that of the one before"


def test_what_is_not_text_is_a_caption_or_the_text_itself(messages):
    rows, _ = messages
    assert (rows["u2b"]["text"], rows["u2b"]["caption"]) == ("この写真のお寺はどこですか？", "temple.jpg")
    assert rows["v1"]["text"] == "Remind me to water the ficus"
    assert rows["v2"]["text"] == "a ficus in a blue pot"


def test_half_an_emoji_costs_nothing_and_a_broken_conversation_only_itself(messages):
    rows, report = messages
    assert rows["v1"]["tags"] == ["Half an emoji \ufffd"]
    assert [error.message.partition(":")[0] for error in report.errors] == ["conversations.json conversation 3"]
    assert report.notes == ["Left out, messages that ChatGPT does not show (system, tools, reasoning): 2"]


def test_the_zip_of_the_export_is_read_alike(read, exports, zipped):
    content = (exports / "conversations.json").read_bytes()
    archive = zipped({"chat.html": "<html>", "user.json": "{}", "conversations.json": content})
    assert read("auto", archive, "export.zip")[0] == read("chatgpt", exports / "conversations.json")[0]


SHOWN = {"author": {"role": "user"}, "content": {"content_type": "text", "parts": ["x"]}}


@pytest.mark.parametrize(
    ("change", "shown"),
    [
        ({}, True),
        ({"weight": 0.0}, False),
        ({"recipient": "python"}, False),
        ({"metadata": {"is_visually_hidden_from_conversation": True}}, False),
        ({"metadata": {"is_user_system_message": True}}, False),
        ({"author": {"role": "system"}}, True),
        ({"author": {"role": "tool", "name": "browser"}}, False),
        ({"author": None}, False),
        ({"content": {"content_type": "code", "text": "print()"}}, False),
        ({"content": {"content_type": "thoughts", "thoughts": []}}, False),
    ],
)
def test_messages_are_what_the_user_saw(read, change, shown):
    mapping = {"a": {"id": "a", "message": {"id": "a", **SHOWN, **change}, "parent": None}}
    rows, report = read("chatgpt", [{"id": "c", "mapping": mapping, "current_node": "a"}])
    assert (len(rows), len(report.notes), report.failed) == ((1, 0, 0) if shown else (0, 1, 0))


def test_a_tree_that_bites_its_tail_ends(read):
    node = {"message": {"id": "a", "author": {"role": "user"}, "content": {"content_type": "text", "parts": ["x"]}}}
    mapping = {"a": {**node, "parent": "b"}, "b": {"message": None, "parent": "a"}}
    rows, _ = read("chatgpt", [{"id": "c", "mapping": mapping, "current_node": "a"}])
    assert [row["text"] for row in rows] == ["x"]


def test_what_stands_before_a_fault_in_the_file_is_kept(read, exports):
    content = (exports / "conversations.json").read_bytes()
    rows, report = read("chatgpt", content[: content.rindex(b"no tree")], "conversations.json")
    assert len(rows) == 6
    assert "not valid JSON" in report.errors[0].message
