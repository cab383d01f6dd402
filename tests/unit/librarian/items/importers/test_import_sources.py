import contextlib
import io
import os
import zipfile

import pytest

from librarian.base.errors import InvalidInput, PayloadTooLarge
from librarian.items.importers.registry import detect, rows_of
from librarian.items.importers.source import archive, from_bytes, opened


@pytest.mark.parametrize(
    ("name", "format_name"),
    [
        ("mem0.json", "mem0"),
        ("memory.jsonl", "mcp-memory"),
        ("notes", "markdown"),
        ("conversations.json", "chatgpt"),
        ("slack", "slack"),
        ("claude", "claude"),
        ("graphiti", "graphiti"),
        ("harbour.af", "letta"),
        ("langmem.json", "langmem"),
    ],
)
def test_formats_are_recognised(exports, name, format_name):
    with opened(exports / name) as source:
        assert detect(source) == format_name


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("rows.jsonl", b'{"kind":"memory","text":"x","type":"Decision"}\n'),
        ("rows.jsonl", b'{"id":1,"memory":"x","results":[]}\n'),
        ("rows.jsonl", b'{"type":"entity","name":"x"}\n'),
        ("rows.json", b'[{"kind":"memory","text":"the \\"memory\\" of \\"results\\""}]'),
        ("rows.json", b""),
        ("rows.json", b"\xff\xfe"),
        ("package.json", b'{"id":"x","memory":4,"results":1}'),
        ("notes.txt", b"# A heading"),
        ("nothing.zip", b"PK\x05\x06" + bytes(18)),
    ],
)
def test_other_files_are_not_guessed_at(name, content):
    assert detect(from_bytes(content, name)) is None


def test_an_upload_names_its_format_or_has_one_that_is_recognised():
    with pytest.raises(InvalidInput, match="diary"):
        rows_of("diary", b"{}", "x.json")
    with pytest.raises(InvalidInput, match="none of the recognised formats"):
        rows_of("auto", b"{}", "x.json")


def test_an_archive_over_a_limit_is_refused_before_it_is_read(zipped):
    bomb = zipped({"a.md": b"\0" * 10_000_000})
    assert len(bomb) < 20_000
    with pytest.raises(PayloadTooLarge, match="unpacked"):
        rows_of("markdown", bomb, "x.zip", max_total_bytes=9_999_999)
    with pytest.raises(PayloadTooLarge, match="3 files"):
        rows_of("markdown", zipped({"a.md": "", "b.md": "", "c.md": ""}), "x.zip", max_members=2)


def test_an_archive_that_says_less_than_it_holds_gives_no_more_than_it_says(zipped):
    bomb = zipped({"a.md": b"a" * 1_000_000})
    lying = bomb.replace((1_000_000).to_bytes(4, "little"), (10).to_bytes(4, "little"))
    with pytest.raises(InvalidInput, match="cannot be read"):
        from_bytes(lying, "x.zip").text("a.md")


@pytest.mark.parametrize("name", ["../up.md", "a/../../up.md", "/etc/x.md", "..\\up.md", "\\\\host\\x.md"])
def test_names_that_lead_out_of_an_archive_are_refused(zipped, name):
    with pytest.raises(InvalidInput, match="leads out"):
        from_bytes(zipped({name: "x"}), "x.zip")


def test_two_members_of_one_name_are_refused():
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as two:
        two.writestr("a\\b.md", "x")
        two.writestr("a/b.md", "y")
    with pytest.raises(InvalidInput, match="twice"):
        archive(written, "x.zip")


def test_an_encrypted_archive_is_said(zipped):
    plain = zipped({"a.md": "x"})
    encrypted = bytearray(plain)
    encrypted[plain.index(b"PK\x01\x02") + 8] |= 1
    with pytest.raises(InvalidInput, match="encrypted"):
        from_bytes(bytes(encrypted), "x.zip")


def test_names_of_archives_made_on_a_mac_are_read_as_they_are_meant(zipped):
    flagged = zipped({"運用.md": "x"})
    unflagged = flagged.replace(b"\x00\x08\x08\x00", b"\x00\x00\x08\x00")
    assert unflagged != flagged
    assert from_bytes(unflagged, "x.zip").paths == ("運用.md",)


def test_links_to_folders_are_not_followed(tmp_path):
    (tmp_path / "a.md").write_text("x")
    (tmp_path / "loop").symlink_to(tmp_path, target_is_directory=True)
    os.mkfifo(tmp_path / "pipe.md")
    with opened(tmp_path) as source:
        assert source.paths == ("a.md",)


def test_a_missing_path_is_an_error_of_the_system(tmp_path):
    with pytest.raises(FileNotFoundError), opened(tmp_path / "none.json"):
        pass


@pytest.mark.parametrize("compression", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_damaged_archive_is_refused_or_its_members_are(compression):
    """Each byte in turn is another one, and the archive ends at each byte in turn."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", compression) as small:
        small.writestr("channels.json", "[]")
        small.writestr("b.md", "y" * 50)
    sound = written.getvalue()
    damaged = [sound[:end] for end in range(len(sound))]
    damaged += [
        sound[:place] + bytes([sound[place] ^ flipped]) + sound[place + 1 :]
        for place in range(len(sound))
        for flipped in (1, 2, 128, 255)
    ]
    for content in damaged:
        with contextlib.suppress(InvalidInput, PayloadTooLarge):
            _read_all(from_bytes(content, "x.zip"))


def test_a_member_that_begins_behind_the_end_cannot_be_read(zipped):
    sound = zipped({"a.md": "x"})
    offset = sound.index(b"PK\x01\x02") + 42
    moved = sound[:offset] + (len(sound) - 4).to_bytes(4, "little") + sound[offset + 4 :]
    with pytest.raises(InvalidInput, match="cannot be read"):
        from_bytes(moved, "x.zip").text("a.md")


def test_a_file_that_has_gone_cannot_be_read(tmp_path):
    (tmp_path / "a.md").write_text("x")
    with opened(tmp_path) as source:
        (tmp_path / "a.md").unlink()
        with pytest.raises(InvalidInput, match="No such file"):
            source.text("a.md")


def _read_all(source):
    for path in source.paths:
        source.head(path)
        with contextlib.suppress(InvalidInput):
            source.text(path)
        with contextlib.suppress(InvalidInput):
            list(source.lines(path))
