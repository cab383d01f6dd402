"""Importers on small files in the shape of real exports."""

import io
import json
import zipfile
from pathlib import Path

import pytest

from librarian.items.contracts import IngestReport
from librarian.items.importers.registry import rows
from librarian.items.importers.source import from_bytes, opened


@pytest.fixture(scope="session")
def exports():
    """The folder of example exports."""
    return Path(__file__).parents[4] / "data" / "imports"


@pytest.fixture(scope="session")
def read():
    """Reads a path, or content with a file name, by a format: the rows, and the rest of the report."""

    def run(format_name, given, name="export.json"):
        if isinstance(given, Path):
            with opened(given) as source:
                return _read(format_name, source)
        content = given if isinstance(given, bytes) else json.dumps(given).encode()
        return _read(format_name, from_bytes(content, name))

    return run


@pytest.fixture(scope="session")
def zipped():
    """A zip archive of the files below a folder, or of a dictionary of contents."""

    def run(files, prefix=""):
        if isinstance(files, Path):
            files = {path.relative_to(files).as_posix(): path.read_bytes() for path in files.rglob("*.*")}
        written = io.BytesIO()
        with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in files.items():
                archive.writestr(prefix + name, content)
        return written.getvalue()

    return run


def _read(format_name, source):
    found = rows(format_name, source)
    lines = [json.loads(line) for _, line in found]
    report = IngestReport()
    found.complete(report)
    return lines, report
