"""`librarian path`."""

import typer

from librarian.cli.display import table
from librarian.cli.opening import ask, reached_without_encoder
from librarian.cli.options import JsonOption, NamespaceOption
from librarian.cli.runtime import new_app, say
from librarian.cli.structs import takes
from librarian.contracts.causal import PathOutput, PathQuery

app = new_app()


@app.command("path")
@takes(PathQuery)
def path_between(asked: PathQuery, namespace: NamespaceOption = None, *, as_json: JsonOption = False) -> None:
    """Show the shortest path between two items."""
    ask(
        lambda librarian, where: librarian.path_between(where, asked),
        namespace,
        _show,
        purpose="path",
        reach=reached_without_encoder,
        contract=PathQuery,
        as_json=as_json,
    )


def _show(found: PathOutput) -> None:
    if not found.items:
        say("A limit ended the search for a path." if found.more else "No path connects the two.")
        raise typer.Exit(1)
    names = {item.uid: item.name for item in found.items}
    rows = [
        (
            names[edge.source],
            edge.type,
            names[edge.target],
            f"{edge.confidence:.2f}",
            _quotes(edge.source_quote, edge.target_quote),
        )
        for edge in found.edges
    ]
    table(("from", "what", "to", "sure", "quotes"), rows, ruled=True)
    say(f"confidence {found.confidence:.2f}")


def _quotes(*quotes: str | None) -> str:
    return "\n".join(f"“{quote}”" for quote in quotes if quote)
