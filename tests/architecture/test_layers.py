"""Who may import whom, where imports stand, and that no two modules need each other."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def test_import_contracts_hold(project: Path) -> None:
    """Every contract of .importlinter is kept, third parties included."""
    linter = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([linter, "--no-cache"], cwd=project, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_first_party_import_inside_a_function(sources, packages) -> None:
    """A hidden import of ours would hide a cycle: such imports stand at the top of the file."""
    faults = {
        f"{source.path}:{statement.lineno}"
        for source in sources
        for function in ast.walk(source.tree)
        if isinstance(function, FUNCTIONS)
        for statement in ast.walk(function)
        if _roots(statement) & set(packages)
    }
    assert sorted(faults) == []


def test_imports_are_absolute(sources) -> None:
    """`from . import x` does not say where x lives."""
    faults = [
        f"{source.path}:{statement.lineno}"
        for source in sources
        for statement in ast.walk(source.tree)
        if isinstance(statement, ast.ImportFrom) and statement.level
    ]
    assert faults == []


def test_no_import_cycle(package_sources) -> None:
    """No module needs, directly or over others, a module that needs it while it loads."""
    modules = {source.module for source in package_sources}
    needs = {source.module: set(_needed(source.tree, modules)) - {source.module} for source in package_sources}
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        raise AssertionError(" <- ".join(error.args[1])) from None


def test_agents_need_each_other_in_one_direction(package_sources) -> None:
    """In `librarian_agents` not even the imports for type checkers lead back."""
    sources = [source for source in package_sources if source.path.parts[0] == "librarian_agents"]
    modules = {source.module for source in sources}
    needs = {
        source.module: {
            statement.module
            for statement in ast.walk(source.tree)
            if isinstance(statement, ast.ImportFrom) and statement.module in modules
        }
        for source in sources
    }
    TopologicalSorter(needs).prepare()


def _roots(statement: ast.AST) -> set[str]:
    if isinstance(statement, ast.Import):
        return {alias.name.partition(".")[0] for alias in statement.names}
    if isinstance(statement, ast.ImportFrom) and statement.module:
        return {statement.module.partition(".")[0]}
    return set()


def _needed(tree: ast.Module, modules: set[str]) -> Iterator[str]:
    """Names of those modules of ours that loading this one loads."""
    for statement in _loaded(tree):
        if isinstance(statement, ast.Import):
            yield from (alias.name for alias in statement.names if alias.name in modules)
        elif isinstance(statement, ast.ImportFrom) and statement.module in modules:
            members = (f"{statement.module}.{alias.name}" for alias in statement.names)
            yield from (member if member in modules else statement.module for member in members)


def _loaded(node: ast.AST) -> Iterator[ast.AST]:
    """All statements that run at import: nothing inside functions, nothing meant for type checkers only."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, FUNCTIONS) or (isinstance(child, ast.If) and _for_type_checkers(child.test)):
            continue
        yield child
        yield from _loaded(child)


def _for_type_checkers(test: ast.expr) -> bool:
    return isinstance(test, ast.Name) and test.id == "TYPE_CHECKING"
