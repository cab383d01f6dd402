"""The changelog's newest entry is about the version that pyproject.toml declares."""

import re
import tomllib
from pathlib import Path


def test_newest_changelog_entry_is_the_current_version(project: Path) -> None:
    """A release without an entry, or an entry without a release, stops `make check`."""
    version = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    changelog = (project / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## \[?(\d[^\]\s]*)", changelog, re.MULTILINE)
    assert newest is not None, "CHANGELOG.md has no entry of the form '## [1.2.3] - 2026-01-31'"
    assert newest[1] == version
