"""`librarian list`."""

from functools import partial

from librarian.cli.display import table
from librarian.cli.items import caption, shortened
from librarian.cli.opening import answered, reached_without_encoder
from librarian.cli.options import AllOption, JsonOption, NamespaceOption
from librarian.cli.paging import pages, print_page, say_what_follows
from librarian.cli.runtime import new_app, say
from librarian.cli.structs import takes
from librarian.cli.verbs import Verbs
from librarian.contracts.items import ItemOut
from librarian.contracts.listing import ItemList, ItemQuery

app = new_app()


@app.command("list")
@takes(ItemQuery)
def list_items(
    query: ItemQuery, namespace: NamespaceOption = None, *, every: AllOption = False, as_json: JsonOption = False
) -> None:
    """List items by when they were stored, the newest first."""

    async def work(librarian: Verbs, where: str) -> None:
        async for page in pages(partial(librarian.list_items, where), query, every=every):
            if as_json:
                print_page(page, page.items, every=every)
            else:
                _show(page, every=every)

    answered(work, namespace, purpose="list", reach=reached_without_encoder, contract=ItemQuery)


def _show(page: ItemList, *, every: bool) -> None:
    if page.items:
        table(("item", "text"), [(_item(item), shortened(item.text)) for item in page.items], ruled=True)
    else:
        say("No items match.")
    say_what_follows(page, every=every)


def _item(item: ItemOut) -> str:
    return caption(item.uid, item.kind, item.properties, item.occurred_at)
