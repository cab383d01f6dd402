from datetime import UTC, datetime

import msgspec
import pytest

from librarian.base.errors import CannotWrite
from librarian.cli.sweep import ReportFile
from librarian.sweep.contracts import SweepChange, SweepConfig, SweepFindings, SweepReport, SweepSummary

REPORT = SweepReport(
    sweep_id="sweep-20260101-001",
    dry_run=True,
    config=SweepConfig(),
    summary=SweepSummary(),
    changes=[],
    namespace="team:a",
    status="planned",
    findings=SweepFindings(),
    started_at=datetime(2026, 1, 1, tzinfo=UTC),
)


def change(size):
    """A change that is so many bytes of a report."""
    bare = SweepChange(memory_id="m", action="template", version=1, text="")
    return msgspec.structs.replace(bare, text="x" * (size - len(msgspec.json.encode(bare))))


def test_a_plan_is_kept_whole_or_not_at_all(tmp_path, full_disk):
    """Changes that fit and a plan that does not: the plan of before stays as it was, and no scrap beside it."""
    with ReportFile(tmp_path) as file:
        file.add([change(100)], [])
        plan = file.keep(REPORT)
    older = plan.read_bytes()
    assert msgspec.json.decode(older, type=SweepReport).changes == [change(100)]
    with ReportFile(tmp_path) as file:
        file.add([change(full_disk - 100)], [])
        with pytest.raises(CannotWrite, match="team_a-sweep-20260101-001") as caught:
            file.keep(REPORT)
    assert "Make room" in caught.value.remedy
    assert [(path, path.read_bytes()) for path in tmp_path.iterdir()] == [(plan, older)]


def test_changes_that_do_not_fit_are_said_at_once(tmp_path, full_disk):
    with ReportFile(tmp_path) as file, pytest.raises(CannotWrite, match="cannot be written: File too large"):
        file.add([change(full_disk + 1)], [])
    with ReportFile(None) as file, pytest.raises(CannotWrite, match="temporary files") as caught:
        file.add([change(full_disk + 1)], [])
    assert "TMPDIR" in caught.value.remedy
    with ReportFile(None, whole=False) as file:
        file.add([change(full_disk + 1)], [])
        assert len(file.sample()) == 1
