"""`librarian stale`."""

import typer

from librarian.cli.display import printable
from librarian.cli.opening import ask, reached_without_encoder
from librarian.cli.options import JsonOption, NamespaceOption
from librarian.cli.runtime import new_app, say
from librarian.cli.structs import takes
from librarian.contracts.files import StaleList, StaleQuery

app = new_app()

_SAID = {"changed": "was changed", "gone": "is gone with its file", "not_found": "was never found"}


@app.command()
@takes(StaleQuery)
def stale(wanted: StaleQuery, namespace: NamespaceOption = None, *, as_json: JsonOption = False) -> None:
    """List facts and memories whose evidence in files does not stand any more."""
    ask(
        lambda librarian, where: librarian.stale_evidence(where, wanted),
        namespace,
        _show,
        purpose="stale",
        reach=reached_without_encoder,
        contract=StaleQuery,
        as_json=as_json,
    )


def _show(found: StaleList) -> None:
    for one in found.stale:
        place = f"{one.path}:{one.start}-{one.end}"
        typer.echo(printable(f"{one.uid} ({one.kind}: {one.name}): {place} {_SAID[one.state]}"))
    if not found.stale:
        say(f"All evidence in files stands, in namespace {found.namespace!r}.")
    if found.more:
        say("There is more; --limit shows it.")
