"""Which backups may go, and whether a schedule is kept."""

import math
from datetime import UTC, datetime, timedelta

import pytest

from graph.local.dumps import facts_file
from librarian.base.settings.settings import BackupSettings
from librarian.transfer.retention import Retention, age_s, backups_in, new_backup, overdue, prune

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


def name(age_days, suffix=".jsonl.gz"):
    return f"librarian-{NOW - timedelta(days=age_days):%Y%m%dT%H%M%SZ}{suffix}"


@pytest.fixture
def folder(tmp_path):
    for age in (0, 1, 2, 10, 20):
        (tmp_path / name(age)).touch()
    for other in ("notes.txt", "librarian-20261399T000000Z.jsonl.gz", "before-upgrade-2-from-1.dump"):
        (tmp_path / other).touch()
    return tmp_path


@pytest.mark.parametrize(
    ("retention", "gone"),
    [
        (Retention(), []),
        (Retention(keep=2), [2, 10, 20]),
        (Retention(keep=9), []),
        (Retention(days=5), [10, 20]),
        (Retention(keep=4, days=5), [20]),
        (Retention(keep=1, days=5), [10, 20]),
        (Retention(days=1), [2, 10, 20]),
    ],
)
def test_what_neither_rule_keeps_goes(folder, retention, gone):
    """The newest N and what is younger than D days stay."""
    doomed = retention.doomed(backups_in(folder), NOW)
    assert [backup.path.name for backup in doomed] == [name(age) for age in gone]


def test_the_newest_always_stays(folder):
    """However old it is."""
    later = NOW + timedelta(days=900)
    assert name(0) not in [backup.path.name for backup in Retention(days=1).doomed(backups_in(folder), later)]


def test_pruning_takes_dumps_with_their_facts_and_nothing_of_other_names(folder):
    """A dump without its facts could not be restored, nor facts without a dump."""
    dump = folder / name(30, ".dump")
    dump.touch()
    facts_file(dump).touch()
    before = {path.name for path in folder.iterdir()}
    gone = prune(folder, Retention(keep=5))
    assert gone == [dump]
    assert {path.name for path in folder.iterdir()} == before - {dump.name, facts_file(dump).name}


def test_a_name_that_is_taken_is_passed_over(tmp_path):
    """Two backups within one second are two."""
    first = new_backup(tmp_path, "export")
    first.touch()
    assert new_backup(tmp_path, "export") > first


def test_a_schedule_that_is_not_kept_is_said(tmp_path):
    """From twice the interval on; without a schedule nothing is."""
    plan = BackupSettings(tmp_path, every_s=3600.0)
    assert overdue(plan) == f"no backup in {tmp_path} yet"
    assert age_s(plan) == math.inf
    old = datetime.now(UTC) - timedelta(hours=3)
    (tmp_path / f"librarian-{old:%Y%m%dT%H%M%SZ}.jsonl.gz").touch()
    assert "is 3.0 hours old" in overdue(plan)
    assert overdue(BackupSettings(tmp_path)) == ""
    new_backup(tmp_path, "dump").touch()
    assert overdue(plan) == ""
