"""`librarian find-file`."""

import typer

from librarian.cli.display import printable
from librarian.cli.opening import ask, reached_without_encoder
from librarian.cli.options import JsonOption, NamespaceOption
from librarian.cli.runtime import new_app, say
from librarian.cli.structs import takes
from librarian.contracts.files import FindFileInput, FindFileOutput

app = new_app()


@app.command("find-file")
@takes(FindFileInput)
def find_file(wanted: FindFileInput, namespace: NamespaceOption = None, *, as_json: JsonOption = False) -> None:
    """Find files by what they are called."""
    ask(
        lambda librarian, where: librarian.find_file(where, wanted),
        namespace,
        _show,
        purpose="find-file",
        reach=reached_without_encoder,
        contract=FindFileInput,
        as_json=as_json,
    )


def _show(found: FindFileOutput) -> None:
    for path in found.paths:
        typer.echo(printable(path))
    if not found.paths:
        say(f"No file is called so in namespace {found.namespace!r}.")
