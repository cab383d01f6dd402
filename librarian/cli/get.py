"""`librarian get`."""

from typing import Annotated

import typer

from librarian.cli.display import printable, table
from librarian.cli.opening import opened
from librarian.cli.runtime import namespace_or, new_app, print_json, run_async, settings_for
from librarian.contracts.items import ItemOut

app = new_app()


@app.command()
def get(
    uid: Annotated[str, typer.Argument(metavar="UID", help="The item's uid, as searches show it.")],
    namespace: Annotated[str | None, typer.Option("--namespace", "-n", help="Default: LIBRARIAN_NAMESPACE.")] = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show one item."""

    async def work() -> None:
        settings = settings_for()
        where = namespace_or(namespace, settings.namespace)
        async with opened(settings, "get") as librarian:
            item = await librarian.get_item(where, uid)
        if as_json:
            print_json(item)
        else:
            _show(item)

    run_async(work)


def _show(item: ItemOut) -> None:
    head = [("uid", item.uid), ("kind", item.kind), ("namespace", item.namespace), ("occurred", item.occurred_at)]
    own = [(name, value) for name, value in sorted(item.properties.items()) if value not in (None, [], {})]
    table(("", ""), [*head, *own])
    typer.echo(printable(item.text))
    if item.evidence:
        rows = [(found.uid, found.author_name, found.content) for found in item.evidence]
        table(("evidence", "author", "text"), rows)
