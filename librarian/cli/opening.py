"""How one-off commands get a Librarian, ask it one thing, and print the answer."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from typing import TypeVar

from msgspec import Struct

from librarian.cli.display import Bar, downloads
from librarian.cli.runtime import namespace_or, print_json, run_async, settings_for
from librarian.cli.seen import LastSeen
from librarian.cli.structs import name_option
from librarian.cli.verbs import Verbs
from librarian.client import ApiError, AsyncLibrarianClient
from librarian.errors import InvalidInput, LibrarianError
from librarian.service import Librarian
from librarian.settings import EncoderSettings, Settings
from librarian.wiring import open_librarian

T = TypeVar("T")

# What a command does in a namespace.
Work = Callable[[Verbs, str], Awaitable[None]]
Question = Callable[[Verbs, str], Awaitable[T]]
Reach = Callable[[Settings, str], AbstractAsyncContextManager[Verbs]]


@asynccontextmanager
async def opened(settings: Settings, purpose: str) -> AsyncIterator[Librarian]:
    """A ready Librarian; the managed server stays up for ten minutes afterwards, for the next command.

    Raises InvalidInput when the command is to ask a service, as what it does needs the graph itself.
    """
    if settings.remote.url is not None:
        raise InvalidInput(
            "this command works on the graph itself, not through a service",
            field="LIBRARIAN_REMOTE",
            remedy="Unset LIBRARIAN_REMOTE, or run the command where the service runs.",
        )
    with downloads() as progress:
        async with open_librarian(settings, purpose=purpose, progress=progress) as librarian:
            yield librarian


@asynccontextmanager
async def reached(settings: Settings, purpose: str) -> AsyncIterator[Librarian | AsyncLibrarianClient]:
    """The service that the settings name, else a ready Librarian."""
    remote = settings.remote
    if remote.url is None:
        async with opened(settings, purpose) as librarian:
            yield librarian
    else:
        last = LastSeen(settings.cache, remote.url)
        async with AsyncLibrarianClient(
            remote.url, remote.api_key, allow_insecure=remote.allow_insecure, bookmark=last.bookmark()
        ) as client:
            try:
                yield client
            finally:
                last.keep(client.bookmark)


def reached_without_encoder(
    settings: Settings, purpose: str
) -> AbstractAsyncContextManager[Librarian | AsyncLibrarianClient]:
    """What `reached` gives, for work that needs no vectors: it is ready sooner by the loading of the encoder."""
    return reached(replace(settings, encoder=EncoderSettings(name="none")), purpose)


def answered(
    work: Work, namespace: str | None, *, purpose: str, contract: type[Struct] | None = None, reach: Reach = reached
) -> None:
    """Do `work` in a namespace (None: the setting's) with whom `reach` reaches, and leave; errors name the options of
    `contract`, if given.
    """

    async def opened_work() -> None:
        settings = settings_for()
        where = namespace_or(namespace, settings.namespace)
        async with reach(settings, purpose) as librarian:
            try:
                await work(librarian, where)
            except (LibrarianError, ApiError) as error:
                if contract is not None:
                    name_option(error, contract)
                raise

    run_async(opened_work)


def ask(
    question: Question[T],
    namespace: str | None,
    show: Callable[[T], None],
    *,
    purpose: str,
    contract: type[Struct] | None = None,
    reach: Reach = reached,
    as_json: bool,
) -> None:
    """Do what `answered` does, with one question whose answer is printed as JSON, or by `show`."""

    async def work(librarian: Verbs, where: str) -> None:
        answer = await question(librarian, where)
        if as_json:
            print_json(answer)
        else:
            show(answer)

    answered(work, namespace, purpose=purpose, contract=contract, reach=reach)


async def encode_pending(librarian: Verbs, *, unless: bool) -> None:
    """Encode what waits for its vector, as perhaps no service is there to do it."""
    if isinstance(librarian, Librarian) and not unless:
        with Bar("Encoding") as bar:
            await librarian.embed_pending(on_progress=bar.update)
