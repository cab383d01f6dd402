"""`librarian graph`."""

from librarian.cli.options import JsonOption, NamespaceOption
from librarian.cli.runtime import new_app
from librarian.cli.structs import takes
from librarian.cli.walks import Format, FormatOption, ask_walk
from librarian.contracts.causal import NeighbourhoodQuery

app = new_app()


@app.command()
@takes(NeighbourhoodQuery)
def graph(
    asked: NeighbourhoodQuery,
    namespace: NamespaceOption = None,
    *,
    form: FormatOption = Format.TREE,
    as_json: JsonOption = False,
) -> None:
    """Draw what is around an item, whichever way edges point."""
    ask_walk(
        lambda librarian, where: librarian.neighbourhood(where, asked),
        namespace,
        form,
        purpose="graph",
        contract=NeighbourhoodQuery,
        as_json=as_json,
    )
