"""Answers that come page by page."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Protocol, TypeVar

import msgspec
import typer
from msgspec import Struct

from librarian.cli.runtime import print_json, say


class Page(Protocol):
    """A contract with a cursor of the page behind it."""

    @property
    def next_cursor(self) -> str | None:
        """None on the last page."""


Q = TypeVar("Q", bound=Struct)
P = TypeVar("P", bound=Page)


async def pages(fetch: Callable[[Q], Awaitable[P]], query: Q, *, every: bool) -> AsyncIterator[P]:
    """The page that `query` asks for, and with `every` all behind it, each fetched when it is wanted."""
    while True:
        page = await fetch(query)
        yield page
        if not every or page.next_cursor is None:
            return
        query = msgspec.structs.replace(query, cursor=page.next_cursor)


def print_page(page: Page, rows: Sequence[Struct], *, every: bool) -> None:
    """Print a page as JSON: the contract's object, or with `every` one line for each row."""
    if not every:
        print_json(page)
        return
    for row in rows:
        typer.echo(msgspec.json.encode(row).decode())


def say_what_follows(page: Page, *, every: bool) -> None:
    """Say how to get the next page."""
    if not every and page.next_cursor is not None:
        say(f"There are more: --cursor {page.next_cursor}, or --all.")
