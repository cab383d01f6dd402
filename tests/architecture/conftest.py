"""The files of the project as they stand, tracked or about to be, for the architecture tests."""

import ast
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
PACKAGES = ("cypher", "graph", "librarian", "librarian_agents", "migrations", "retrieval")


@dataclass(frozen=True, slots=True)
class Source:
    """One Python file: its path from the project's folder, its text and its syntax tree."""

    path: Path
    text: str
    tree: ast.Module

    @property
    def module(self) -> str:
        """Dotted name under which Python imports the file."""
        parts = self.path.with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@pytest.fixture(scope="session")
def project() -> Path:
    return PROJECT


@pytest.fixture(scope="session")
def packages() -> tuple[str, ...]:
    return PACKAGES


@pytest.fixture(scope="session")
def files() -> list[Path]:
    """Every file that git tracks or would add, from the project's folder."""
    # A checkout mounted by another user (containers do) is no reason for git to refuse reading it.
    command = ["git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=PROJECT, check=True, capture_output=True, text=True).stdout
    paths = sorted({Path(name) for name in listed.split("\0") if name})
    return [path for path in paths if (PROJECT / path).is_file()]


@pytest.fixture(scope="session")
def sources(files: list[Path]) -> list[Source]:
    """Every Python file of the packages, the tests, the benchmarks and the scripts."""
    folders = {*PACKAGES, "tests", "benchmarks", "scripts"}
    return [_source(path) for path in files if path.suffix == ".py" and path.parts[0] in folders]


@pytest.fixture(scope="session")
def package_sources(sources: list[Source]) -> list[Source]:
    """Every Python file of the packages alone."""
    return [source for source in sources if source.path.parts[0] in PACKAGES]


def _source(path: Path) -> Source:
    text = (PROJECT / path).read_text(encoding="utf-8")
    return Source(path, text, ast.parse(text, filename=str(path)))
