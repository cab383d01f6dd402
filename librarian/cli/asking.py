"""Commands that call one operation and show the answer; `question` and `listing` build most of them from data."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import msgspec
import typer
from msgspec import Struct

from librarian.base.errors import LibrarianError
from librarian.cli.lazy import deferred, verb_of
from librarian.cli.opening import Connection, Reach, answering_without_encoder, reached
from librarian.cli.options import AllOption, JsonOption, NamespaceOption, UidArgument, name_option, takes
from librarian.cli.runtime import (
    namespace_or,
    print_answer,
    print_json,
    run_async,
    say,
    settings_of_question,
)

if TYPE_CHECKING:
    from librarian.client import errors
else:
    errors = deferred("librarian.client.errors")

T = TypeVar("T")

# The work of a command in a namespace.
Work = Callable[[Connection, str], Awaitable[None]]


def answered(
    work: Work, namespace: str | None, *, purpose: str, contract: type[Struct] | None = None, reach: Reach = reached
) -> None:
    """Do `work` in a namespace (None: the setting's) over the connection from `reach`, and exit; errors name the
    options of `contract`, if given.
    """

    async def connected_work() -> None:
        settings = settings_of_question()
        where = namespace_or(namespace, settings.namespace)
        async with reach(settings, purpose) as librarian:
            try:
                await work(librarian, where)
            except (LibrarianError, errors.ApiError) as error:
                if contract is not None:
                    name_option(error, contract)
                raise

    run_async(connected_work)


def ask(
    question: Callable[[Connection, str], Awaitable[T]],
    namespace: str | None,
    show: Callable[[T], None],
    *,
    purpose: str,
    contract: type[Struct] | None = None,
    reach: Reach = reached,
    as_json: bool,
) -> None:
    """Call one operation and print its answer as JSON, or by `show`, then exit."""

    async def work(librarian: Connection, where: str) -> None:
        answer = await question(librarian, where)
        print_answer(answer, show, as_json=as_json)

    answered(work, namespace, purpose=purpose, contract=contract, reach=reach)


def question(
    app: typer.Typer,
    name: str,
    contract: type[Struct],
    show: Callable[[Any], None],
    *,
    reach: Reach = answering_without_encoder,
) -> None:
    """Add the command `name`, which calls its operation with the options of `contract`, and shows the answer."""

    @app.command(name)
    @takes(contract)
    def command(query: Struct, namespace: NamespaceOption = None, *, as_json: JsonOption = False) -> None:
        ask(
            lambda librarian, where: getattr(librarian, verb_of(name))(where, query),
            namespace,
            show,
            purpose=name,
            contract=contract,
            reach=reach,
            as_json=as_json,
        )


def question_of_uid(app: typer.Typer, name: str, show: Callable[[Any], None]) -> None:
    """Add the command `name`, which calls its operation for one item."""

    @app.command(name)
    def command(uid: UidArgument, namespace: NamespaceOption = None, *, as_json: JsonOption = False) -> None:
        ask(
            lambda librarian, where: getattr(librarian, verb_of(name))(where, uid),
            namespace,
            show,
            purpose=name,
            reach=answering_without_encoder,
            as_json=as_json,
        )


class Page(Protocol):
    """A contract with a cursor of the next page."""

    @property
    def next_cursor(self) -> str | None:
        """None on the last page."""


def listing(app: typer.Typer, name: str, contract: type[Struct], rows: str, show: Callable[[Any], None]) -> None:
    """Add the command `name`, which gets pages from its operation and shows the `rows` of each."""

    @app.command(name)
    @takes(contract)
    def command(
        query: Struct, namespace: NamespaceOption = None, *, every: AllOption = False, as_json: JsonOption = False
    ) -> None:
        list_pages(
            verb_of(name), query, namespace, rows, show, purpose=name, reach=answering_without_encoder, every=every,
            as_json=as_json,
        )  # fmt: skip


def list_pages(
    verb: str,
    query: Struct,
    namespace: str | None,
    rows: str,
    show: Callable[[Any], None],
    *,
    purpose: str,
    reach: Reach = reached,
    every: bool,
    as_json: bool,
) -> None:
    """Get pages from `verb` and print the `rows` of each: as JSON (with `every` one line per row), or by `show`."""

    async def work(librarian: Connection, where: str) -> None:
        fetch = getattr(librarian, verb)
        async for page in pages(lambda page_query: fetch(where, page_query), query, every=every):
            found: Sequence[Struct] = getattr(page, rows)
            if not as_json:
                show(found)
                if not every and page.next_cursor is not None:
                    say(f"There are more: --cursor {page.next_cursor}, or --all.")
            elif every:
                for row in found:
                    typer.echo(msgspec.json.encode(row).decode())
            else:
                print_json(page)

    answered(work, namespace, purpose=purpose, contract=type(query), reach=reach)


Q = TypeVar("Q", bound=Struct)
P = TypeVar("P", bound=Page)


async def pages(fetch: Callable[[Q], Awaitable[P]], query: Q, *, every: bool) -> AsyncIterator[P]:
    """Yield the page of `query`, and with `every` all further ones, fetched lazily."""
    while True:
        page = await fetch(query)
        yield page
        if not every or page.next_cursor is None:
            return
        query = msgspec.structs.replace(query, cursor=page.next_cursor)
