"""The systemd unit: systemd itself reads it where it is installed, and what we need of it is there."""

import configparser
import re
import shutil
import subprocess
import sys

import pytest

from librarian.base.settings.settings import Settings

ANALYZE = shutil.which("systemd-analyze")
needs_systemd = pytest.mark.skipif(ANALYZE is None, reason="systemd-analyze is not installed")
MOST_EXPOSED = 3.0


class Unit(configparser.RawConfigParser):
    """An INI file whose names keep their case."""

    def optionxform(self, optionstr):
        return optionstr


@pytest.fixture(scope="module")
def unit_file(deploy):
    return deploy / "systemd/librarian.service"


@pytest.fixture(scope="module")
def service(unit_file):
    unit = Unit(strict=True)
    unit.read(unit_file, encoding="utf-8")
    return unit["Service"]


@needs_systemd
def test_systemd_understands_it(unit_file, tmp_path):
    """No unknown directive, no bad value; the program's path is replaced by one that exists here."""
    text = unit_file.read_text(encoding="utf-8").replace("/opt/librarian/bin/librarian", sys.executable)
    copy = tmp_path / unit_file.name
    copy.write_text(text.replace("User=librarian\nGroup=librarian\n", ""), encoding="utf-8")
    done = subprocess.run([ANALYZE, "verify", "--man=no", copy], check=False, capture_output=True, text=True)
    reported = [line for line in done.stderr.splitlines() if unit_file.name in line]
    assert (done.returncode, reported) == (0, [])


@needs_systemd
def test_systemd_finds_it_little_exposed(unit_file):
    """By its own score from 0 to 10, where 10 is a unit without hardening."""
    done = subprocess.run(
        [ANALYZE, "security", "--offline=true", "--no-pager", unit_file], check=False, capture_output=True, text=True
    )
    found = re.search(r"exposure level.*: ([0-9.]+)", done.stdout)
    assert found is not None, done.stdout + done.stderr
    assert float(found[1]) < MOST_EXPOSED


def test_a_stop_lets_the_database_write_its_checkpoint(service):
    """Only the service gets the signal; the managed server is then stopped by its own command, with time enough."""
    assert service["KillMode"] == "mixed"
    assert service["ExecStopPost"].endswith("librarian server stop")
    assert int(service["TimeoutStopSec"]) > 120
    assert service["ExecStart"].endswith("librarian serve")


def test_its_variables_are_settings(service, deploy, setting_names):
    """Also those that the example of an environment file only hints at."""
    example = (deploy / "systemd/librarian.env").read_text(encoding="utf-8")
    named = dict(re.findall(r"(?m)^#?([A-Z][A-Z0-9_]+)=(.*)$", example))
    named |= dict(pair.split("=", 1) for pair in service["Environment"].split())
    assert set(named) <= setting_names
    del named["NEO4J_PASSWORD_FILE"]
    assert Settings.from_env(named).http.host == "0.0.0.0"


def test_it_writes_to_its_own_folders_only(service):
    """State and cache are made by systemd and named in the settings."""
    assert service["ProtectSystem"] == "strict"
    assert (service["StateDirectory"], service["CacheDirectory"]) == ("librarian", "librarian")
    assert service["Environment"] == "LIBRARIAN_HOME=%S/librarian/home LIBRARIAN_CACHE=%C/librarian"
