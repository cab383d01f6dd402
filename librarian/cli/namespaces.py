"""`librarian namespaces`."""

from functools import partial
from typing import Annotated

import typer

from librarian.cli.deletion import YesOption, deleted, show_deletion
from librarian.cli.display import table
from librarian.cli.opening import ask, reached_without_encoder
from librarian.cli.options import JsonOption
from librarian.cli.runtime import new_app
from librarian.cli.verbs import Verbs
from librarian.contracts.changes import DeleteOutput
from librarian.contracts.namespaces import NamespaceList, NamespaceOut

app = new_app("List and delete namespaces.")


@app.callback()
def namespaces() -> None:
    """List and delete namespaces."""


@app.command("list")
def list_namespaces(*, as_json: JsonOption = False) -> None:
    """List every namespace with its counts."""
    ask(
        lambda librarian, _: librarian.namespaces(),
        None,
        _show,
        purpose="namespaces",
        reach=reached_without_encoder,
        as_json=as_json,
    )


@app.command()
def delete(
    namespace: Annotated[str, typer.Argument(metavar="NS", help="The namespace.")],
    confirm: Annotated[str | None, typer.Option(help="Delete what the preview with this token showed.")] = None,
    *,
    yes: YesOption = False,
    as_json: JsonOption = False,
) -> None:
    """Delete a namespace with everything in it, after a preview."""

    async def question(librarian: Verbs, where: str) -> DeleteOutput:
        return await deleted(partial(librarian.delete_namespace, where), confirm, yes=yes, silent=as_json)

    ask(question, namespace, show_deletion, purpose="namespaces", reach=reached_without_encoder, as_json=as_json)


def _show(found: NamespaceList) -> None:
    rows = [(one.namespace, one.items, _counted(one), one.pending_embeddings) for one in found.namespaces]
    table(("namespace", "items", "of these", "pending vectors"), rows)


def _counted(one: NamespaceOut) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in sorted(one.by_kind.items()) if count)
