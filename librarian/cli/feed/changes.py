"""`librarian changes`: the changes of items, files and edges."""

import asyncio
from collections.abc import Sequence
from typing import Annotated

import msgspec
import typer

from librarian.cli.asking import answered
from librarian.cli.display import table
from librarian.cli.lazy import new_app
from librarian.cli.opening import Connection, answering_without_encoder
from librarian.cli.options import JsonOption, NamespaceOption, takes
from librarian.cli.runtime import print_json, say
from librarian.transfer.feed.contracts import ChangeList, ChangeOut, ChangeQuery

app = new_app()

_LOOK_EVERY_S = 1.0


@app.command("changes")
@takes(ChangeQuery)
def changes(
    query: ChangeQuery,
    namespace: NamespaceOption = None,
    *,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Continue until Ctrl-C; with --json one line per change.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Show the changes of items, files and edges, and follow them.

    Each change comes once, in commit order. Without --after it shows the current position of the feed, and with
    --follow changes from now on.
    """

    async def work(librarian: Connection, where: str) -> None:
        page = await librarian.changes(where, query)
        _show(page, as_json=as_json, follow=follow)
        while follow:
            if not page.more:
                await asyncio.sleep(_LOOK_EVERY_S)
            page = await librarian.changes(where, msgspec.structs.replace(query, after=page.cursor))
            _show(page, as_json=as_json, follow=True)

    answered(work, namespace, purpose="changes", contract=ChangeQuery, reach=answering_without_encoder)


def _show(page: ChangeList, *, as_json: bool, follow: bool) -> None:
    if as_json and not follow:
        print_json(page)
    elif as_json:
        for change in page.changes:
            typer.echo(msgspec.json.encode(change).decode())
    else:
        _show_changes(page.changes)
        if not follow:
            say(f"{'There are more' if page.more else 'Go on here'}: --after {page.cursor}")


def _show_changes(found: Sequence[ChangeOut]) -> None:
    if found:
        rows = [(change.cursor, change.at, change.action, change.kind, _what(change)) for change in found]
        table(("cursor", "at", "what", "kind", "of"), rows)


def _what(change: ChangeOut) -> str:
    if change.type is None:
        return change.uid
    return f"{change.uid}: {change.source} {change.type} {change.target}"
