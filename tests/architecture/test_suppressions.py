"""A silenced checker is silenced for one rule and for a reason that stands beside it."""

import io
import re
import tokenize
from collections.abc import Iterator

import pytest

SUPPRESSION = re.compile(r"#\s*(?:ruff:\s*|flake8:\s*)?noqa\b|#\s*type:\s*ignore|#\s*mypy:|#\s*pragma:\s*no\s*cover")
CODE = r"[A-Z]+[0-9]+"
REASON = r"\s*(?:[-–:#]\s*)?(?=.*[a-z])\w.{4,}"  # words, not one more code
EXPLAINED = re.compile(rf"#\s*noqa:\s*{CODE}(?:\s*,\s*{CODE})*{REASON}|#\s*type:\s*ignore\[[a-z][a-z, -]*\]{REASON}")


def test_every_suppression_has_a_code_and_a_reason(sources) -> None:
    """`# noqa: S310 - the address comes from the configuration`, `# type: ignore[misc]  # untyped base class`."""
    faults = [
        f"{source.path}:{line} {comment}"
        for source in sources
        for line, comment in _comments(source.text)
        if SUPPRESSION.search(comment) and not EXPLAINED.search(comment)
    ]
    assert faults == []


@pytest.mark.parametrize(
    ("comment", "accepted"),
    [
        ("# noqa: S310 - the address is configured", True),
        ("# noqa: S310, BLE001 - the last guard", True),
        ("# noqa: BLE001  the caller gets it", True),
        ("# type: ignore[misc]  # untyped base class", True),
        ("# noqa", False),
        ("# noqa: S310", False),
        ("# noqa: S310 BLE001", False),
        ("# type: ignore", False),
        ("# type: ignore[misc]", False),
        ("# ruff: noqa - whole file", False),
    ],
)
def test_the_form_of_a_suppression(comment: str, accepted: bool) -> None:
    """Neither a bare suppression nor one with a code alone is enough."""
    assert SUPPRESSION.search(comment)
    assert bool(EXPLAINED.search(comment)) is accepted


def _comments(text: str) -> Iterator[tuple[int, str]]:
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
