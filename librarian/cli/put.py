"""`librarian put`."""

import sys
from pathlib import Path
from typing import Annotated, cast

import typer

from librarian.cli.opening import ask, encode_pending
from librarian.cli.options import JsonOption, NamespaceOption, NoEmbedOption, VersionOption
from librarian.cli.remember import show_stored
from librarian.cli.runtime import finished, new_app
from librarian.cli.values import STDIN
from librarian.cli.verbs import Verbs
from librarian.contracts.changes import PutOutput
from librarian.contracts.items import ItemIn
from librarian.strictjson import decode

app = new_app()


@app.command()
def put(
    uid: Annotated[str, typer.Argument(metavar="UID", help="The uid of the item to create or replace.")],
    file: Annotated[str, typer.Argument(metavar="FILE|-", help="One row of JSON, as `ingest` takes them.")],
    namespace: NamespaceOption = None,
    if_version: VersionOption = None,
    *,
    no_embed: NoEmbedOption = False,
    as_json: JsonOption = False,
) -> None:
    """Create or replace one item."""
    row = finished(lambda: _row(file))

    async def question(librarian: Verbs, where: str) -> PutOutput:
        stored = await librarian.put_item(where, uid, row, if_version=if_version)
        await encode_pending(librarian, unless=no_embed)
        return stored

    ask(question, namespace, show_stored, purpose="put", as_json=as_json)


def _row(file: str) -> ItemIn:
    body = sys.stdin.buffer.read() if file == STDIN else Path(file).read_bytes()
    row: ItemIn = decode(body, cast("type[ItemIn]", ItemIn))  # a union of classes decodes like one
    return row
