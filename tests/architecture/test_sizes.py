"""Functions stay small enough to read at once. A file has no limit: it ends where its subject ends."""

import ast

MAX_FUNCTION_LINES = 40


def test_functions_are_at_most_40_lines(package_sources) -> None:
    """Docstring and signature count; decorators do not."""
    lengths = {
        f"{source.path}:{node.lineno} {node.name}": node.end_lineno - node.lineno + 1
        for source in package_sources
        for node in ast.walk(source.tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert {name: lines for name, lines in lengths.items() if lines > MAX_FUNCTION_LINES} == {}


def test_there_is_something_to_measure(sources, packages) -> None:
    """An empty list of files would pass every rule of this folder."""
    assert {*packages, "tests"} <= {source.path.parts[0] for source in sources}
