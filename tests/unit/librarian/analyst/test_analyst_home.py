"""The home of the analysts' server between two copies, and how old a copy is said to be."""

from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from librarian.analyst.server import AnalystServer, CopyNote
from librarian.base.settings.settings import Settings
from librarian.cli.analyst import _age

NOTE = CopyNote(namespaces=["a"], whole=False, items=3, taken_at=datetime(2026, 11, 21, tzinfo=UTC), exact=True)


@pytest.fixture
def analysts(tmp_path):
    return AnalystServer(Settings.from_env({"LIBRARIAN_HOME": str(tmp_path)}))


@pytest.fixture
def home(tmp_path):
    """The files that a server leaves behind."""
    folder = tmp_path / "analyst"
    (folder / "data").mkdir(parents=True)
    (folder / "neo4j.password").write_text("old\n")
    (folder / "server.version").write_text("2999.01.0\n")
    (folder / "copy.json").write_bytes(msgspec.json.encode(NOTE))
    return folder


async def test_a_new_copy_begins_with_an_empty_home_of_any_version(analysts, home):
    """Only the password may outlive it, where the next copy is of the same namespaces."""
    assert analysts.status().copy == NOTE
    await analysts._clear(keep_password=True)
    assert [path.name for path in home.iterdir()] == ["neo4j.password"]
    assert (home / "neo4j.password").read_text() == "old\n"
    assert (home / "neo4j.password").stat().st_mode & 0o777 == 0o600
    assert home.stat().st_mode & 0o777 == 0o700
    assert analysts.status().copy is None
    await analysts._clear(keep_password=False)
    assert list(home.iterdir()) == []


def test_a_copy_whose_note_cannot_be_read_counts_as_none(analysts, home):
    """It was not finished, or is of a version to come."""
    (home / "copy.json").write_text('{"namespaces": ')
    assert analysts.status().copy is None


def test_what_a_copy_is_of_decides_about_its_password():
    """The whole graph is not the only namespace that there happens to be."""
    assert NOTE.scope == "namespace a"
    assert msgspec.structs.replace(NOTE, whole=True).scope == "the whole graph"


@pytest.mark.parametrize(
    ("age", "words"),
    [
        (timedelta(seconds=-3), "0 min"),
        (timedelta(seconds=59), "0 min"),
        (timedelta(minutes=61), "1 h 1 min"),
        (timedelta(days=2, hours=5, minutes=59), "2 d 5 h"),
    ],
)
def test_an_age_is_written_as_people_write_it(age, words):
    """To the minute on the first day, then to the hour."""
    assert _age(datetime.now(UTC) - age - timedelta(milliseconds=1)) == words
