"""`librarian get`."""

from librarian.cli.items import show_item
from librarian.cli.opening import ask, reached_without_encoder
from librarian.cli.options import JsonOption, NamespaceOption, UidArgument
from librarian.cli.runtime import new_app

app = new_app()


@app.command()
def get(uid: UidArgument, namespace: NamespaceOption = None, *, as_json: JsonOption = False) -> None:
    """Show one item."""
    ask(
        lambda librarian, where: librarian.get_item(where, uid),
        namespace,
        show_item,
        purpose="get",
        reach=reached_without_encoder,
        as_json=as_json,
    )
