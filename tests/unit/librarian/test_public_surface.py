"""The interface that others build on is kept in files: whoever changes it sees the difference, and so do its readers.

RENEW=1 .venv/bin/pytest tests/unit/librarian/test_public_surface.py writes the files anew.
"""

import os
from pathlib import Path

import pytest

from scripts import reference, verbs

DOCS = Path(__file__).resolve().parents[3] / "docs"


def http_operations():
    """The page as it stands, with its list of operations made anew."""
    return reference.http_operations((DOCS / "http-api.md").read_text(encoding="utf-8"))


SURFACE = {
    "openapi.json": reference.openapi,
    "http-api.md": http_operations,
    "cli-surface.txt": reference.command_surface,
    "python-surface.txt": reference.python_surface,
    "../librarian/client/signatures.pyi": verbs.stub,
}


@pytest.mark.parametrize("name", SURFACE)
def test_the_public_surface_is_what_its_file_says(name):
    """A change of the interface is made on purpose, and its file changes with it."""
    file, now = DOCS / name, SURFACE[name]()
    if os.environ.get("RENEW"):
        file.write_text(now, encoding="utf-8")
    assert file.read_text(encoding="utf-8") == now, f"renew docs/{name}; this module's docstring says how"
