import json


def test_items_of_a_store_become_memories(read, exports):
    rows, report = read("langmem", exports / "langmem.json")
    assert rows[0] == {
        "kind": "memory",
        "uid": "langmem-memories:mara:4b1c",
        "text": "Prefers the night shift",
        "tags": ["memories", "mara"],
        "domain": "memories",
        "source": "langmem",
        "occurred_at": "2025-04-01T10:00:00.123456Z",
    }
    assert rows[1]["text"] == "毎週月曜は点検"
    assert (rows[2]["text"], rows[2]["tags"]) == (
        "name: Mara\nhome port: Porto\ntools: radio, tablet",
        ["profiles", "UserProfile"],
    )
    assert [error.message for error in report.errors] == ["langmem.json item 4: no text in its value"]


def test_answers_of_the_sdk_and_json_lines_are_read_alike(read, exports):
    items = json.loads((exports / "langmem.json").read_text())[:2]
    listed, _ = read("auto", {"items": items})
    lines, _ = read("auto", "\n".join(map(json.dumps, items)).encode(), "store.jsonl")
    assert listed == lines == read("langmem", exports / "langmem.json")[0][:2]
