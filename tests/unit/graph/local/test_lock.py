"""The committed lock file is complete, consistent and what its maker would write."""

import re
from pathlib import PurePosixPath

import pytest

from graph.local.lock import LOCK_FILE, coordinate_of, load_group, render

GROUPS = ("server", "encoder")


@pytest.mark.parametrize("name", GROUPS)
def test_every_jar_is_fully_described(name):
    for jar in load_group(name).jars:
        assert re.fullmatch(r"[0-9a-f]{64}", jar.sha256)
        assert jar.size > 0
        assert jar.coordinate == coordinate_of(jar.path)
        assert not PurePosixPath(jar.path).is_absolute()
        assert ".." not in PurePosixPath(jar.path).parts


@pytest.mark.parametrize("name", GROUPS)
def test_file_names_are_unique_because_they_share_a_folder(name):
    names = [jar.name for jar in load_group(name).jars]
    assert len(set(names)) == len(names)


def test_server_and_browser_are_the_pinned_versions():
    coordinates = {jar.coordinate for jar in load_group("server").jars}
    assert load_group("server").version == "2026.09.0"
    assert {"org.neo4j:neo4j:2026.09.0", "org.neo4j.client:neo4j-browser:5.24.0"} <= coordinates


def test_every_part_of_neo4j_has_the_servers_version():
    group = load_group("server")
    parts = [jar for jar in group.jars if jar.path.startswith(("org/neo4j/neo4j-", "org/neo4j/app/"))]
    assert {jar.coordinate.split(":")[2] for jar in parts} == {group.version}


def test_the_encoder_is_its_jar_alone():
    assert len(load_group("encoder").jars) == 1


def test_the_file_is_what_its_maker_writes():
    assert render(load_group(name) for name in GROUPS) == LOCK_FILE.read_text(encoding="utf-8")


def test_coordinates_keep_a_classifier():
    path = "io/netty/netty-x/4.2.1.Final/netty-x-4.2.1.Final-linux-x86_64.jar"
    assert coordinate_of(path) == "io.netty:netty-x:4.2.1.Final:linux-x86_64"
