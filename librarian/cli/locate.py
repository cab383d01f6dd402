"""`librarian locate`."""

import typer

from librarian.cli.display import printable
from librarian.cli.opening import ask
from librarian.cli.options import JsonOption, NamespaceOption
from librarian.cli.runtime import new_app, say
from librarian.cli.structs import takes
from librarian.contracts.files import LocateInput, LocateOutput

app = new_app()


@app.command()
@takes(LocateInput)
def locate(wanted: LocateInput, namespace: NamespaceOption = None, *, as_json: JsonOption = False) -> None:
    """Find out where something is in files."""
    ask(
        lambda librarian, where: librarian.locate(where, wanted),
        namespace,
        _show,
        purpose="locate",
        contract=LocateInput,
        as_json=as_json,
    )


def _show(found: LocateOutput) -> None:
    say(f"{found.shape}: {found.why}.")
    parts = [f"{part.path}:{part.start}-{part.end}" for part in found.parts]
    for line in [*found.lines, *found.paths, *parts]:
        typer.echo(printable(line))
    if not (found.lines or found.paths or parts):
        say(f"Nothing found in namespace {found.namespace!r}.")
