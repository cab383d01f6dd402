"""Errors are caught by name; only the table that turns them into answers catches all."""

import ast
from collections.abc import Iterator
from pathlib import Path

ALLOWED = Path("librarian/base/problems.py")
BROAD = {"Exception", "BaseException"}


def test_broad_handlers_stand_in_problems_only(sources) -> None:
    """`except Exception`, `except BaseException` and a bare `except` hide faults that nobody thought of.

    One that cleans up and ends in a bare `raise` hides nothing and may stand anywhere.
    """
    faults = [
        f"{source.path}:{node.lineno}"
        for source in sources
        if source.path != ALLOWED
        for node in ast.walk(source.tree)
        if isinstance(node, ast.ExceptHandler) and BROAD & set(_caught(node.type)) and not _passes_on(node)
    ]
    assert faults == []


def _caught(caught: ast.expr | None) -> Iterator[str]:
    if caught is None:
        yield "BaseException"
    elif isinstance(caught, ast.Tuple):
        for member in caught.elts:
            yield from _caught(member)
    elif isinstance(caught, ast.Name):
        yield caught.id


def _passes_on(handler: ast.ExceptHandler) -> bool:
    last = handler.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None
