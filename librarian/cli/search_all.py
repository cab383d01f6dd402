"""`librarian search-all`."""

from librarian.cli.opening import ask
from librarian.cli.options import JsonOption, NamespaceOption
from librarian.cli.runtime import new_app
from librarian.cli.semantic import show
from librarian.cli.structs import takes
from librarian.contracts.semantic import SemanticSearchInput

app = new_app()


@app.command()
@takes(SemanticSearchInput)
def search_all(query: SemanticSearchInput, namespace: NamespaceOption = None, *, as_json: JsonOption = False) -> None:
    """Find items of all kinds similar to a query."""
    ask(
        lambda librarian, where: librarian.search_all(where, query),
        namespace,
        show,
        purpose="search-all",
        contract=SemanticSearchInput,
        as_json=as_json,
    )
