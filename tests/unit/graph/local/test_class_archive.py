"""Which class archive a start uses or makes; that it works is tested with a real JVM."""

import pytest

from graph.local.class_archive import ClassArchive


@pytest.fixture
def archive(tmp_path):
    return ClassArchive(tmp_path / "server-1", "Java 25 (build 25+10)", tmp_path / "a")


def test_without_an_archive_one_is_made_only_when_asked_for(archive):
    assert archive.flags(make=False) == ()
    assert f"-XX:ArchiveClassesAtExit={archive.part}" in archive.flags(make=True)


def test_what_was_written_is_used_from_then_on(archive):
    archive.part.write_bytes(b"classes")
    archive.keep()
    assert archive.path.read_bytes() == b"classes"
    assert not archive.part.exists()
    for make in (False, True):
        assert f"-XX:SharedArchiveFile={archive.path}" in archive.flags(make=make)


def test_a_process_that_wrote_none_leaves_none(archive):
    archive.keep()
    assert not archive.path.exists()


def test_every_version_and_build_has_its_own_and_homes_share_it(archive, tmp_path):
    others = [
        ClassArchive(tmp_path / "server-2", archive.build, archive.home),
        ClassArchive(archive.jars, "Java 21", archive.home),
    ]
    assert len({archive.path, *(other.path for other in others)}) == 3
    neighbour = ClassArchive(archive.jars, archive.build, tmp_path / "b")
    assert neighbour.path == archive.path
    assert neighbour.part != archive.part


def test_an_unknown_build_makes_none(tmp_path):
    assert ClassArchive(tmp_path / "server-1", "", tmp_path).flags(make=True) == ()
