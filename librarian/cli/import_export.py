"""`librarian import`."""

import contextlib
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

from librarian.cli.display import Bar
from librarian.cli.opening import encode_pending, opened
from librarian.cli.options import JsonOption
from librarian.cli.runtime import namespace_or, new_app, print_json, run_async, say, settings_for
from librarian.contracts.exports import Existing, ImportReport

app = new_app()

STDIN = "-"


@app.command("import")
def import_export(
    file: Annotated[str, typer.Argument(metavar="FILE", help="What `librarian export` wrote. - is standard input.")],
    namespace: Annotated[
        str | None, typer.Option("--namespace", "-n", help="The name its only namespace gets. Default: as it was.")
    ] = None,
    existing: Annotated[
        Existing,
        typer.Option(help="Where the namespace holds something: refuse, skip (add the rest), or replace (delete it)."),
    ] = "refuse",
    *,
    no_embed: Annotated[bool, typer.Option("--no-embed", help="Leave the encoding to the service.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Read a file that `export` or `backup` wrote.

    The whole file is checked before anything is written. Interrupted, the same command goes on where it stopped.
    """

    async def work() -> None:
        settings = settings_for()
        into = None if namespace is None else namespace_or(namespace, "")
        with readable(file) as source:
            async with opened(settings, "import") as librarian:
                with Bar("Importing") as bar:
                    report = await librarian.import_from(source, into, existing=existing, on_progress=bar.update)
                await encode_pending(librarian, unless=no_embed)
        if as_json:
            print_json(report)
        else:
            for line in described(report):
                say(line)

    run_async(work)


@contextlib.contextmanager
def readable(file: str) -> Iterator[BinaryIO]:
    """The file, or all of standard input, so that it can be read twice."""
    if file != STDIN:
        with Path(file).open("rb") as source:
            yield source
        return
    with tempfile.TemporaryFile() as kept:
        shutil.copyfileobj(sys.stdin.buffer, kept)
        yield kept


def described(report: ImportReport) -> list[str]:
    """What was written, for the human."""
    lines = ["Went on where an earlier import was interrupted."] if report.resumed else []
    created = ", ".join(f"{count:,} {name}s" for name, count in report.created.items() if count) or "nothing"
    lines.append(f"Created {created} in {', '.join(report.namespaces) or 'no namespace'}.")
    if report.skipped:
        left = ", ".join(f"{count:,} {name}s" for name, count in report.skipped.items())
        lines.append(f"Left out, as they were there or lacked an end: {left}.")
    return lines
