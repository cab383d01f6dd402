"""`librarian serve`."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Annotated

import typer

from graph.local.server import ServerStatus
from librarian.cli.greeting import greeting
from librarian.cli.runtime import new_app, report, run_async, say, settings_for
from librarian.cli.server import browser_lines, managed_server
from librarian.errors import InvalidInput, KeysFileError
from librarian.http.app import build_app
from librarian.http.server import Server, listen
from librarian.keys import KeyFile, ensure_admin_key
from librarian.problems import caught
from librarian.service import SAMPLE_NAMESPACE, Librarian
from librarian.settings import Settings
from librarian.wiring import open_agent, open_librarian

app = new_app()

Opening = AbstractAsyncContextManager[Librarian]
Greet = Callable[[Librarian], Awaitable[None]]


@app.command()
def serve(
    host: Annotated[str | None, typer.Option(help="Default: LIBRARIAN_HOST.")] = None,
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="Default: LIBRARIAN_PORT; 0: any.")] = None,
    *,
    with_sample: Annotated[
        bool, typer.Option("--with-sample", help="Load the sample data and print examples.")
    ] = False,
    agent_only: Annotated[
        bool, typer.Option("--agent-only", help="Only the search agent over PROFESSOR_SEARCH_URL: no database.")
    ] = False,
) -> None:
    """Serve the HTTP interface until SIGTERM or Ctrl-C.

    It answers /healthz at once and /readyz when the graph can be used.
    """

    async def work() -> None:
        if agent_only and with_sample:
            raise InvalidInput("it does not go with --agent-only, which keeps nothing", field="--with-sample")
        settings = settings_for("info").with_address(host, port)
        with listen(settings.http) as listening:
            base_url = _url(*listening.getsockname()[:2])
            keys = KeyFile(settings.keys_file)
            admin_key = _admin_key(settings, keys)
            say(f"Listening on {base_url}; {'the search agent' if agent_only else 'the graph'} starts …")

            async def greet(librarian: Librarian) -> None:
                await _greet(librarian, base_url, admin_key, with_sample=with_sample)

            opening = open_agent(settings, progress=_say_download) if agent_only else _opening(settings, with_sample)
            application = build_app(settings.http, keys, lambda: _greeted(opening, greet))
            await Server(application).serve(sockets=[listening])

    run_async(work)


def _opening(settings: Settings, with_sample: bool) -> Opening:
    """The service, connecting in the background."""
    return open_librarian(
        settings,
        purpose="serve",
        linger_s=0,
        wait=False,
        progress=_say_download,
        before_ready=_load_sample if with_sample else None,
    )


@asynccontextmanager
async def _greeted(opening: Opening, greet: Greet) -> AsyncIterator[Librarian]:
    """The service with `greet` beside it."""
    async with opening as librarian:
        greeter = asyncio.create_task(_reported(greet, librarian))
        yield librarian
        greeter.cancel()
        await asyncio.wait([greeter])


async def _reported(greet: Greet, librarian: Librarian) -> None:
    """Greet; a failure is told to the operator, and the service goes on answering /readyz with its reason."""
    error = await caught(greet(librarian))
    if error is not None:
        report(error)
        say("The service stays up, but not ready; /readyz says why. Stop it with Ctrl-C.")


async def _greet(librarian: Librarian, base_url: str, admin_key: str | None, *, with_sample: bool) -> None:
    await librarian.ready()
    if not with_sample:
        say(f"Ready on {base_url}.")
        return
    settings = librarian.settings
    home = None if settings.has_default("LIBRARIAN_HOME") else settings.home
    for line in greeting(base_url, admin_key or "<your key>", SAMPLE_NAMESPACE, home=home):
        typer.echo(line)
    if settings.neo4j.uri is None:
        _print_browser(managed_server(settings).status())


async def _load_sample(librarian: Librarian) -> None:
    """The sample data, searchable by both arms."""
    await librarian.load_sample()
    await librarian.embed_pending()


def _print_browser(server: ServerStatus) -> None:
    if server.http_port is not None and server.bolt_port is not None:
        for line in browser_lines(server.http_port, server.bolt_port):
            typer.echo(line)


def _admin_key(settings: Settings, keys: KeyFile) -> str | None:
    """The local admin key; a key file that others manage and we cannot write to needs none."""
    try:
        settings.home.mkdir(mode=0o700, parents=True, exist_ok=True)
        return ensure_admin_key(keys, settings.home)
    except KeysFileError:
        if not keys.list():
            raise
        say(f"warning: {settings.keys_file} cannot be written; no local admin key was made.")
        return None


def _say_download(total: int, done: int) -> None:
    if done == 0 and total:
        say(f"Downloading {total / 1e6:.0f} MB, once …")


def _url(host: str, port: int) -> str:
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
