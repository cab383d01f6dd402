import os

import pytest

from librarian.cli.ingest import Bookmark


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "rows ü.jsonl"
    path.write_text("{}\n{}\n")
    return path


def bookmark(tmp_path, source, namespace="a", mapping=None):
    return Bookmark.of(tmp_path / "home", source, namespace=namespace, mapping=mapping)


def test_a_kept_line_is_found_again_until_it_is_removed(tmp_path, source):
    bookmark(tmp_path, source).keep(7)
    assert bookmark(tmp_path, source).last_line() == (7, "")
    bookmark(tmp_path, source).remove()
    assert bookmark(tmp_path, source).last_line() == (0, "no unfinished ingest of this file is known")


@pytest.mark.parametrize("other", [{"namespace": "b"}, {"mapping": "kind==message"}])
def test_another_way_to_read_the_same_file_has_a_bookmark_of_its_own(tmp_path, source, other):
    bookmark(tmp_path, source).keep(7)
    assert bookmark(tmp_path, source, **other).last_line()[0] == 0


def test_a_changed_file_starts_anew_and_says_why(tmp_path, source):
    bookmark(tmp_path, source).keep(7)
    os.utime(source, ns=(1, 1))
    assert bookmark(tmp_path, source).last_line() == (0, "the file has changed since")


def test_a_damaged_record_starts_anew_and_says_why(tmp_path, source):
    kept = bookmark(tmp_path, source)
    kept.keep(7)
    kept.file.write_text("{")
    assert kept.last_line() == (0, "the record of the last ingest is damaged")
