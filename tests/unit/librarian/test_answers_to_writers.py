"""Answers of operations that need the scope `write` alone."""

from librarian.files.contracts import FileOut, PutFileOutput
from librarian.items.contracts import DeleteCounts, IngestReport
from librarian.operations import OPERATIONS

WITHOUT_CONTENT = {DeleteCounts, FileOut, IngestReport, PutFileOutput}
"""Counts, and what of a file its path and its bytes' digest say, which the caller knows."""


def test_every_answer_to_a_writer_can_be_given_without_content():
    """A new operation has to say what of its answer is stored content."""
    answers = {row.output for row in OPERATIONS if row.scope == "write"}
    assert {answer for answer in answers if not hasattr(answer, "without_content")} == WITHOUT_CONTENT
