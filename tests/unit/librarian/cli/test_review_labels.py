import pytest

from librarian.base.errors import CannotWrite
from librarian.cli.review import write_labels
from librarian.sweep.contracts import TypeLabel


async def labels(count):
    for number in range(count):
        yield TypeLabel(
            id=f"n/{number}", repo="n", text="a" * 1000, type="Insight", proposed=None, confidence=None,
            reviewed_by="ada", reviewed_at=None, reason=None,
        )  # fmt: skip


async def test_labels_that_do_not_fit_leave_the_older_ones(tmp_path, full_disk):
    await write_labels(tmp_path, labels(2))
    older = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert older["types.jsonl"].count(b"\n") == 2
    with pytest.raises(CannotWrite, match=r"types\.jsonl cannot be written"):
        await write_labels(tmp_path, labels(100))
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == older
