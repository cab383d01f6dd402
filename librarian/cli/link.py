"""`librarian link`."""

import typer

from librarian.cli.opening import ask, reached_without_encoder
from librarian.cli.options import JsonOption, NamespaceOption
from librarian.cli.runtime import new_app, say
from librarian.cli.structs import takes
from librarian.contracts.edges import LinkOutput
from librarian.contracts.items import LinkInput

app = new_app()


@app.command()
@takes(LinkInput)
def link(edge: LinkInput, namespace: NamespaceOption = None, *, as_json: JsonOption = False) -> None:
    """Connect two items by a typed edge."""
    ask(
        lambda librarian, where: librarian.link(where, edge),
        namespace,
        _show,
        purpose="link",
        reach=reached_without_encoder,
        contract=LinkInput,
        as_json=as_json,
    )


def _show(linked: LinkOutput) -> None:
    edge = linked.edge
    say(f"{edge.source} {edge.type} {edge.target}{'' if linked.created else ' was there already'}.")
    for note in linked.notes:
        say(note)
    typer.echo(edge.edge_id)
