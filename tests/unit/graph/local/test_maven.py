"""Where jars come from: argument, Maven's mirror for central, jgo; in this order."""

import pytest

from graph.local.maven import central_mirror, repository_url

NAMESPACE = 'xmlns="http://maven.apache.org/SETTINGS/1.2.0"'


def write_settings(path, mirror_of, *, namespace=NAMESPACE):
    path.write_text(
        f"<settings {namespace}><mirrors>"
        "<mirror><id>other</id><mirrorOf>snapshots</mirrorOf><url>https://snapshots.test/</url></mirror>"
        f"<mirror><id>m</id><mirrorOf>{mirror_of}</mirrorOf><url> https://mirror.test/maven/ </url></mirror>"
        "</mirrors></settings>"
    )
    return path


@pytest.mark.parametrize("namespace", [NAMESPACE, ""])
@pytest.mark.parametrize("mirror_of", ["central", "*", "external:*", "*,!internal", "a, central"])
def test_mirrors_of_central_are_used(tmp_path, mirror_of, namespace):
    settings = write_settings(tmp_path / "settings.xml", mirror_of, namespace=namespace)
    assert repository_url(settings=settings) == "https://mirror.test/maven"


@pytest.mark.parametrize("mirror_of", ["*,!central", "internal", ""])
def test_other_mirrors_are_not(tmp_path, mirror_of):
    assert central_mirror(write_settings(tmp_path / "settings.xml", mirror_of)) is None


def test_an_argument_wins(tmp_path):
    settings = write_settings(tmp_path / "settings.xml", "*")
    assert repository_url("https://given.test/", settings=settings) == "https://given.test"


def test_without_settings_the_address_is_the_one_that_jgo_knows(tmp_path):
    from jgo.constants import MAVEN_CENTRAL_URL

    assert repository_url(settings=tmp_path / "none.xml") == MAVEN_CENTRAL_URL.rstrip("/")


def test_broken_settings_are_ignored_with_a_warning(tmp_path, caplog):
    settings = tmp_path / "settings.xml"
    settings.write_text("<settings><mirrors>")
    assert central_mirror(settings) is None
    assert "not valid XML" in caplog.text
