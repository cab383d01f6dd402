"""`librarian export`."""

import asyncio
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from librarian.cli.display import Bar
from librarian.cli.opening import opened
from librarian.cli.options import JsonOption
from librarian.cli.runtime import namespace_or, new_app, print_json, run_async, say, settings_for
from librarian.contracts.exports import ExportReport
from librarian.errors import InvalidInput
from librarian.service import Librarian

app = new_app()

STDOUT = "-"


@app.command()
def export(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="Where to write; zipped if it ends in .gz. - is standard output.")
    ],
    namespace: Annotated[str | None, typer.Option("--namespace", "-n", help="Default: LIBRARIAN_NAMESPACE.")] = None,
    *,
    everything: Annotated[bool, typer.Option("--all", help="Every namespace.")] = False,
    vectors: Annotated[
        bool, typer.Option("--vectors", help="With the vectors; without them they are made anew after an import.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Write a namespace to a file: items, history, edges, evidence, sweeps.

    Others may go on writing: the file is of one moment. It appears when it is whole.
    """

    async def work() -> None:
        settings = settings_for()
        if everything and namespace is not None:
            raise InvalidInput("--all and --namespace exclude each other", field="--namespace")
        if as_json and file == STDOUT:
            raise InvalidInput("standard output holds the export already", field="--json")
        names = None if everything else [namespace_or(namespace, settings.namespace)]
        async with opened(settings, "export") as librarian:
            with Bar("Exporting") as bar:
                report = await _export(librarian, file, names, vectors=vectors, bar=bar)
        if as_json:
            print_json(report)
        else:
            for line in described(report):
                say(line)

    run_async(work)


def described(report: ExportReport) -> list[str]:
    """What was written, for the human."""
    held = ", ".join(f"{count:,} {name}s" for name, count in report.rows.items()) or "nothing"
    lines = [f"Wrote {held} ({report.bytes / 1e6:,.1f} MB), as of {report.moment:%Y-%m-%d %H:%M:%S} UTC."]
    if not report.exact:
        lines.append(
            "Something that was there changed each time it was read: what changed is in it as before or as after."
        )
    return lines


async def _export(librarian: Librarian, file: str, names: list[str] | None, *, vectors: bool, bar: Bar) -> ExportReport:
    if file != STDOUT:
        return await librarian.export_to(Path(file), names, vectors=vectors, on_progress=bar.update)
    with tempfile.TemporaryFile() as kept:
        report = await librarian.export_into(kept, names, vectors=vectors, on_progress=bar.update)
        kept.seek(0)
        await asyncio.to_thread(shutil.copyfileobj, kept, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    return report
