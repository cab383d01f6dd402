"""`librarian review`."""

import sys
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from librarian.cli.opening import answered, ask, opened
from librarian.cli.options import AllOption, JsonOption, NamespaceOption
from librarian.cli.paging import pages, print_page, say_what_follows
from librarian.cli.review_keys import decide_by_keys
from librarian.cli.review_labels import write_labels
from librarian.cli.review_view import show_decision, show_list
from librarian.cli.runtime import finished, namespace_or, new_app, run_async, say, settings_for
from librarian.cli.structs import struct_of, takes
from librarian.cli.verbs import Verbs
from librarian.contracts.reviews import ReviewInput, ReviewQuery

app = new_app()

ReviewArgument = Annotated[str, typer.Argument(metavar="ID", help="Id of the review, as the list shows it.")]
ReasonOption = Annotated[str | None, typer.Option("--reason", help="Why; kept with the decision.")]


@app.callback(invoke_without_command=True)
@takes(ReviewQuery)
def review(
    query: ReviewQuery,
    ctx: typer.Context,
    namespace: NamespaceOption = None,
    export: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Write all decisions as labelled texts into a folder.")
    ] = None,
    *,
    every: AllOption = False,
    as_json: JsonOption = False,
) -> None:
    """Accept or reject what sweeps propose."""
    if ctx.invoked_subcommand is not None:
        return
    if export is not None:
        _export(export, namespace)
    elif as_json or every or not _at_a_terminal():
        _list(query, namespace, every=every, as_json=as_json)
    else:
        answered(partial(decide_by_keys, query=query), namespace, purpose="review", contract=ReviewQuery)


@app.command()
def accept(
    review_id: ReviewArgument,
    reason: ReasonOption = None,
    type_: Annotated[
        str | None, typer.Option("--type", help="Of a flagged memory, if another than the sweep proposes.")
    ] = None,
    namespace: NamespaceOption = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Accept one: the edge, type or merge that it proposes is right."""
    _decide(review_id, {"verdict": "accept", "reason": reason, "type": type_}, namespace, as_json=as_json)


@app.command()
def reject(
    review_id: ReviewArgument,
    reason: ReasonOption = None,
    namespace: NamespaceOption = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Reject one: no sweep proposes it again."""
    _decide(review_id, {"verdict": "reject", "reason": reason}, namespace, as_json=as_json)


def _decide(review_id: str, values: dict[str, str | None], namespace: str | None, *, as_json: bool) -> None:
    given = finished(lambda: struct_of(ReviewInput, values))
    ask(
        lambda librarian, where: librarian.review(where, review_id, given),
        namespace,
        show_decision,
        purpose="review",
        contract=ReviewInput,
        as_json=as_json,
    )


def _list(query: ReviewQuery, namespace: str | None, *, every: bool, as_json: bool) -> None:
    async def work(librarian: Verbs, where: str) -> None:
        async for page in pages(partial(librarian.list_reviews, where), query, every=every):
            if as_json:
                print_page(page, page.reviews, every=every)
            else:
                show_list(page.reviews)
                say_what_follows(page, every=every)

    answered(work, namespace, purpose="review", contract=ReviewQuery)


def _export(folder: Path, namespace: str | None) -> None:
    finished(lambda: folder.mkdir(parents=True, exist_ok=True))

    async def work() -> None:
        settings = settings_for()
        where = namespace_or(namespace, settings.namespace)
        async with opened(settings, "review") as librarian:
            for file, rows in (await write_labels(folder, librarian.review_labels(where))).items():
                say(f"{file}: {rows} labels")

    run_async(work)


def _at_a_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()
