"""Texts that no person writes: long, and of one piece. What reads them must end in time in proportion to them.

There is no clock here: where the time grows with the square of the length, these tests do not end within the run.
"""

import pytest

from librarian_agents.sweep.causal import Note, infer_relationship
from librarian_agents.sweep.classify import classify_memory
from librarian_agents.sweep.losses import losses
from librarian_agents.sweep.memory_types import MemoryType
from librarian_agents.sweep.template import apply_template

PIECES = [
    "x", "x9", "_", "a/", "Aa", "9.", " ", "決定", "`", "``a `", "[a](", "[", "*", "@.", "a-", "a_", "a::", "#\n",
    "- \n", "|a", "> ", "**a", "a: ", "word, ", "because ",
]  # fmt: skip
LENGTH = 40_000


@pytest.mark.parametrize("piece", PIECES)
def test_a_text_of_one_piece_is_read(piece):
    """Typed, sorted, compared and read for causes; and nothing of it is lost."""
    text = piece * (LENGTH // len(piece))
    type_, confidence = classify_memory(text)
    assert isinstance(type_, MemoryType)
    assert 0 <= confidence <= 1
    assert losses(text, apply_template(text, MemoryType.DECISION)) == []
    assert 0 <= infer_relationship(Note(text), Note("Logins became slow because of ADR-12.")).confidence <= 1
