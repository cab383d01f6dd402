import pytest

from librarian.base.errors import InvalidInput
from librarian.items.importers.slack import plain_text

NAMES = ({"U1": "mara"}, {"C1": "general"})


@pytest.fixture
def messages(read, exports):
    rows, report = read("slack", exports / "slack")
    return {row["message_id"]: row for row in rows}, report


def test_a_message_of_a_thread(messages):
    assert messages[0]["1709285400.123456"] == {
        "kind": "message",
        "message_id": "1709285400.123456",
        "text": "@田中恵子 the export & import docs are at the wiki (https://docs.example.com/export), ask in #general",
        "conversation_id": "C0100GEN",
        "session_id": "1709285400.123456",
        "domain": "general",
        "author_name": "mara",
        "author_id": "U01MARA",
        "sent_at": "2024-03-01T09:30:00.123456Z",
    }
    assert messages[0]["1709285500.000200"]["session_id"] == "1709285400.123456"


def test_private_channels_and_direct_messages(messages):
    rows, _ = messages
    assert (rows["1709371800.000100"]["conversation_id"], rows["1709371800.000100"]["domain"]) == (
        "G0200INC",
        "incident-42",
    )
    assert rows["1709372800.000100"]["conversation_id"] == "D0400KEI"
    assert "domain" not in rows["1709372800.000100"]


def test_bots_files_and_people_who_left(messages):
    bot, file = messages[0]["1709285600.000300"], messages[0]["1709285700.000400"]
    assert (bot["author_name"], bot["role"]) == ("ci-bot", "bot")
    assert bot["text"] == "Build 4711 failed\nstep https://ci.example.com/4711 <compile>"
    assert (file["text"], file["author_name"]) == ("Heap of the export job", "Otto Lang")


def test_what_is_left_out_is_counted_and_what_is_wrong_is_named(messages):
    _, report = messages
    assert [note.partition(",")[0] for note in report.notes] == ["Left out", "Left out"]
    assert [error.message for error in report.errors] == [
        "general/2024-03-01.json message 7: no ts",
        "general/2024-03-01.json message 8: not a message",
    ]


@pytest.mark.parametrize("prefix", ["", "Workspace export/", "a/b/"])
def test_the_zip_is_read_like_the_folder(read, exports, zipped, prefix):
    rows, _ = read("auto", zipped(exports / "slack", prefix), "x.zip")
    assert rows == read("slack", exports / "slack")[0]


def test_one_broken_day_or_listing_costs_only_itself(read, zipped):
    day = b'[{"type":"message","user":"U1","text":"hi","ts":"1.2"}]'
    archive = zipped(
        {
            "channels.json": "{",
            "users.json": b"\xff",
            "a/2024-01-01.json": "[1,",
            "a/2024-01-02.json": day,
            "a/x.json": "{",
        }
    )
    rows, report = read("slack", archive, "x.zip")
    assert [(row["text"], row["author_name"], row["conversation_id"]) for row in rows] == [("hi", "U1", "a")]
    assert [error.message.partition(":")[0] for error in report.errors] == [
        "users.json",
        "channels.json",
        "a/2024-01-01.json message 1",
        "a/2024-01-01.json",
    ]


def test_anything_else_is_no_slack_export(read, zipped):
    with pytest.raises(InvalidInput, match="not a Slack export"):
        read("slack", zipped({"2024-01-01.json": "[]"}), "x.zip")


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("<@U1> and <@U2|ben> and <@U3>", "@mara and @ben and @U3"),
        ("<#C1|> <#C1> <#C2|random> <#C3>", "#general #general #random #C3"),
        ("<!here> <!channel> <!subteam^S1|@team> <!subteam^S1>", "@here @channel @team @subteam"),
        ("<!date^1709285400^{date}|1 March>", "1 March"),
        ("<https://a.example/?x=1&amp;y=2>", "https://a.example/?x=1&y=2"),
        ("<https://a.example/b|a.example>", "https://a.example/b"),
        ("<mailto:a@b.example|a@b.example>", "a@b.example"),
        ("if a &lt; b &amp;&amp; c &gt; d", "if a < b && c > d"),
        ("&amp;lt; is an escape", "&lt; is an escape"),
        ("a < b is not markup", "a < b is not markup"),
    ],
)
def test_markup(text, plain):
    assert plain_text(text, *NAMES) == plain
