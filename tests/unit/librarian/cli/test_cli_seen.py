"""The note that hands what one command wrote through a service on to the next."""

import time
from types import SimpleNamespace

from librarian.cli import opening
from librarian.cli.opening import LastSeen

URL = "https://librarian.example"


def test_the_next_command_knows_what_the_last_one_wrote(tmp_path):
    assert LastSeen(tmp_path / "new", URL).bookmark() == ""
    LastSeen(tmp_path / "new", URL).keep("FB:a")
    assert LastSeen(tmp_path / "new", URL).bookmark() == "FB:a"
    assert LastSeen(tmp_path / "new", "https://other.example").bookmark() == ""


def test_an_empty_bookmark_removes_the_note(tmp_path):
    LastSeen(tmp_path, URL).keep("FB:a")
    LastSeen(tmp_path, URL).keep("")
    assert LastSeen(tmp_path, URL).bookmark() == ""


def test_an_old_note_counts_for_nothing(tmp_path, monkeypatch):
    """A member that works has long caught up; the database may have been restored since."""
    LastSeen(tmp_path, URL).keep("FB:a")
    later = time.time() + 601
    monkeypatch.setattr(opening, "time", SimpleNamespace(time=lambda: later))
    assert LastSeen(tmp_path, URL).bookmark() == ""


def test_a_note_that_cannot_be_read_or_written_does_not_matter(tmp_path):
    (tmp_path / "bookmarks.json").write_text("{")
    assert LastSeen(tmp_path, URL).bookmark() == ""
    (tmp_path / "file").touch()
    LastSeen(tmp_path / "file", URL).keep("FB:a")


def test_reading_commands_write_no_note(tmp_path):
    LastSeen(tmp_path / "new", URL).keep("")
    assert not (tmp_path / "new").exists()
