"""`librarian search-messages`."""

from librarian.cli.opening import ask
from librarian.cli.options import JsonOption, NamespaceOption
from librarian.cli.runtime import new_app
from librarian.cli.semantic import show
from librarian.cli.structs import takes
from librarian.contracts.semantic import SemanticSearchInput

app = new_app()


@app.command()
@takes(SemanticSearchInput)
def search_messages(
    query: SemanticSearchInput, namespace: NamespaceOption = None, *, as_json: JsonOption = False
) -> None:
    """Find messages similar to a query."""
    ask(
        lambda librarian, where: librarian.semantic_search_messages(where, query),
        namespace,
        show,
        purpose="search-messages",
        contract=SemanticSearchInput,
        as_json=as_json,
    )
