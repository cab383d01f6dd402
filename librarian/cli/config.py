"""`librarian config`."""

from typing import Annotated

import typer

from librarian.cli.display import table
from librarian.cli.runtime import new_app, print_json, run, settings_for

app = new_app("Show the settings.")


@app.callback()
def config() -> None:
    """Show the settings."""


@app.command()
def show(*, as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Show every setting, its value (secrets masked) and where it came from."""

    def work() -> None:
        entries = settings_for().entries
        if as_json:
            print_json([{"name": entry.name, "value": entry.value, "source": entry.source} for entry in entries])
        else:
            table(("setting", "value", "source"), [(entry.name, entry.value, entry.source) for entry in entries])

    run(work)
