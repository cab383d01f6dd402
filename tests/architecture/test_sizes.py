"""Files and functions stay small enough to read at once. There is no list of exceptions."""

import ast

MAX_FILE_LINES = 450
MAX_FUNCTION_LINES = 60


def test_files_are_at_most_450_lines(sources) -> None:
    """A longer file holds two subjects: split it by what they know."""
    lengths = {str(source.path): len(source.text.splitlines()) for source in sources}
    assert {path: lines for path, lines in lengths.items() if lines > MAX_FILE_LINES} == {}


def test_functions_are_at_most_60_lines(sources) -> None:
    """Docstring and signature count; decorators do not."""
    lengths = {
        f"{source.path}:{node.lineno} {node.name}": node.end_lineno - node.lineno + 1
        for source in sources
        for node in ast.walk(source.tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert {name: lines for name, lines in lengths.items() if lines > MAX_FUNCTION_LINES} == {}


def test_there_is_something_to_measure(sources, packages) -> None:
    """An empty list of files would pass every rule of this folder."""
    assert {*packages, "tests"} <= {source.path.parts[0] for source in sources}
