"""Which exports `librarian ingest` reads by an importer, and which files as rows."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from librarian.cli.runtime import say
from librarian.errors import InvalidInput
from librarian.importers.registry import AUTO, detect, rows
from librarian.importers.rows import Rows
from librarian.importers.source import Source, opened


@contextmanager
def export_rows(path: Path, format_name: str, *, resume: bool) -> Iterator[Rows | None]:
    """The rows of an export while its files are open; None for a file to be read as rows, one a line.

    `auto` takes a folder, an archive and a file that one of the importers recognises. Raises InvalidInput for what no
    importer can read.
    """
    with opened(path) as source:
        found = _recognised(source) if format_name == AUTO else format_name
        if found is not None and resume:
            raise InvalidInput(
                "only a file of rows can be resumed", field="--resume", remedy="Run it again: only the rest is added."
            )
        yield None if found is None else rows(found, source)


def _recognised(source: Source) -> str | None:
    found = detect(source)
    if found is not None:
        say(f"Reading {source.name} as {found}.")
    return AUTO if found is None and not source.single else found
