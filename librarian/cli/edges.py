"""`librarian edges`."""

from functools import partial

from librarian.cli.display import table
from librarian.cli.opening import answered, reached_without_encoder
from librarian.cli.options import AllOption, JsonOption, NamespaceOption
from librarian.cli.paging import pages, print_page, say_what_follows
from librarian.cli.runtime import new_app, say
from librarian.cli.structs import takes
from librarian.cli.verbs import Verbs
from librarian.contracts.edges import EdgeList, EdgeOut, EdgeQuery

app = new_app()

_COLUMNS = ("edge", "source", "type", "target", "state", "how", "reason")


@app.command()
@takes(EdgeQuery)
def edges(
    query: EdgeQuery, namespace: NamespaceOption = None, *, every: AllOption = False, as_json: JsonOption = False
) -> None:
    """List typed edges, proposed and rejected ones too."""

    async def work(librarian: Verbs, where: str) -> None:
        async for page in pages(partial(librarian.list_edges, where), query, every=every):
            if as_json:
                print_page(page, page.edges, every=every)
            else:
                _show(page, every=every)

    answered(work, namespace, purpose="edges", reach=reached_without_encoder, contract=EdgeQuery)


def _show(page: EdgeList, *, every: bool) -> None:
    if page.edges:
        table(_COLUMNS, [_row(edge) for edge in page.edges])
    else:
        say("No edges match.")
    say_what_follows(page, every=every)


def _row(edge: EdgeOut) -> tuple[object, ...]:
    how = f"{edge.method} {edge.confidence:.2f}"
    return (edge.edge_id, edge.source, edge.type, edge.target, edge.state, how, edge.reason)
