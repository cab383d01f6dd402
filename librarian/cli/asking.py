"""Commands that ask one thing and show the answer: most of them are made from data, `question` and `listing`."""

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

# What a command does in a namespace.
Work = Callable[[Connection, str], Awaitable[None]]


def answered(
    work: Work, namespace: str | None, *, purpose: str, contract: type[Struct] | None = None, reach: Reach = reached
) -> None:
    """Do `work` in a namespace (None: the setting's) with whom `reach` reaches, and leave; errors name the options of
    `contract`, if given.
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
    """Do what `answered` does, with one question whose answer is printed as JSON, or by `show`."""

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
    """Add the command `name`, which asks its operation what the options of `contract` say, and shows the answer."""

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
    """Add the command `name`, which asks its operation about one item."""

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
    """A contract with a cursor of the page behind it."""

    @property
    def next_cursor(self) -> str | None:
        """None on the last page."""


def listing(app: typer.Typer, name: str, contract: type[Struct], rows: str, show: Callable[[Any], None]) -> None:
    """Add the command `name`, which asks its operation for pages and shows the `rows` of each."""

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
    """Ask `verb` for pages and print the `rows` of each: as JSON (with `every` a line for each row), or by `show`."""

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
    """Yield the page that `query` asks for, and with `every` all behind it, each fetched when it is wanted."""
    while True:
        page = await fetch(query)
        yield page
        if not every or page.next_cursor is None:
            return
        query = msgspec.structs.replace(query, cursor=page.next_cursor)
