import pytest

DECISION = "export/Streaming the export.md"


@pytest.fixture
def notes(read, exports):
    rows, report = read("markdown", exports / "notes")
    return {row["source"]: row for row in rows}, report


def test_front_matter_says_what_a_note_is(notes):
    note = notes[0][DECISION]
    assert note.pop("uid").startswith("note-")
    assert note == {
        "kind": "memory",
        "name": "Stream the export",
        "text": "We stream the export row by row, because building it in memory needs 4 GB.\n"
        "See [[Nightly job]] and ![[diagram.png]].",
        "type": "Decision",
        "importance": 8,
        "domain": "export",
        "tags": ["architecture", "export"],
        "source": DECISION,
        "occurred_at": "2024-03-01T00:00:00Z",
    }


def test_a_type_of_its_own_is_a_tag_and_times_have_offsets(notes):
    note = notes[0]["運用/夜間バッチ.md"]
    assert (note["name"], note["domain"], note["tags"]) == ("夜間バッチの再実行手順", "運用", ["運用", "夜間", "手順"])
    assert note["occurred_at"] == "2024-04-12T14:30:00Z"
    assert "type" not in note


def test_without_front_matter_the_first_heading_outside_code_is_the_title(notes):
    note = notes[0]["Nightly job.md"]
    assert note["name"] == "The nightly job"
    assert "tags" not in note
    assert "domain" not in note


def test_files_that_cannot_be_taken_are_named_and_cost_nothing_else(notes):
    rows, report = notes
    assert len(rows) == 3
    assert [error.message for error in report.errors] == [
        "broken.md: the front matter is not valid YAML in line 2: mapping values are not allowed here",
        "empty.md: holds no text",
    ]


def test_hidden_folders_are_not_notes_and_other_encodings_are_said(read, tmp_path):
    for path, content in {
        ".obsidian/plugin.md": b"hidden",
        "b/.trash.md": b"hidden",
        "B.MD": b"\xef\xbb\xbftext",
        "latin.md": "Übung".encode("latin-1"),
        "picture.png": b"\x89PNG",
    }.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(content)
    rows, report = read("auto", tmp_path)
    assert [(row["name"], row["text"]) for row in rows] == [("B", "text")]
    assert [error.message for error in report.errors] == ["latin.md: not UTF-8 at byte 0"]


@pytest.mark.parametrize(
    ("content", "name", "text"),
    [
        ("---\n---\nbody", "note", "body"),
        ("---\ntitle: ~\n---\r\n# Head\r\nbody\r\n", "Head", "# Head\nbody"),
        ("---\nprose between two rules\n---\nmore", "note", "---\nprose between two rules\n---\nmore"),
        ("---\nnever closed", "note", "---\nnever closed"),
        ("---\ntitle: 2024-13-45\ndate: 2024-13-45\n...\nx", "2024-13-45", "x"),
        ("#tag is no heading\nx", "note", "#tag is no heading\nx"),
    ],
)
def test_forms_of_a_note(read, content, name, text):
    rows, _ = read("markdown", content.encode(), "note.md")
    assert (rows[0]["name"], rows[0]["text"]) == (name, text)


@pytest.mark.parametrize(
    "front",
    [
        "a: " + "[" * 400 + "]" * 400,
        "a: " + "[" * 2000,
        "a: &a [*a]",
        'a: "\\UFFFFFFFF"',
        "a: !!python/object/apply:os.system [echo]",
        "? [a]\n: b",
        "a: " + "x" * 40_000,
        "%YAML 1." + "9" * 5000,
    ],
)
def test_hostile_front_matter_costs_its_note_at_most(read, front):
    rows, report = read("markdown", f"---\n{front}\n---\nbody".encode(), "note.md")
    assert len(rows) + report.failed == 1


def test_the_same_note_has_the_same_uid_in_a_folder_and_in_archives(read, exports, zipped, tmp_path):
    uids = {row["source"]: row["uid"] for row in read("markdown", exports / "notes")[0]}
    for name, prefix in (("any.zip", ""), ("notes.zip", "notes/")):
        rows, _ = read("auto", zipped(exports / "notes", prefix), name)
        assert {row["source"]: row["uid"] for row in rows} == uids
