"""`librarian unlink`."""

from typing import Annotated

import typer

from librarian.cli.opening import ask, reached_without_encoder
from librarian.cli.options import JsonOption, NamespaceOption
from librarian.cli.runtime import finished, new_app, say
from librarian.cli.structs import struct_of
from librarian.contracts.edges import EdgeOut, UnlinkInput

app = new_app()

# How an edge can be named: how many words, and the fields that they are.
_FORMS = {1: ("edge_id",), 3: ("source", "type", "target")}


@app.command()
def unlink(
    which: Annotated[
        list[str],
        typer.Argument(metavar="EDGE_ID | SOURCE TYPE TARGET", help="The edge, as `librarian edges` shows it."),
    ],
    namespace: NamespaceOption = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Remove a typed edge."""
    if len(which) not in _FORMS:
        raise typer.BadParameter("give EDGE_ID, or SOURCE TYPE TARGET")
    named = dict(zip(_FORMS[len(which)], which, strict=True))
    edge = finished(lambda: struct_of(UnlinkInput, named))
    ask(
        lambda librarian, where: librarian.unlink(where, edge),
        namespace,
        _show,
        purpose="unlink",
        reach=reached_without_encoder,
        contract=UnlinkInput,
        as_json=as_json,
    )


def _show(edge: EdgeOut) -> None:
    say(f"Removed {edge.edge_id}: {edge.source} {edge.type} {edge.target}.")
