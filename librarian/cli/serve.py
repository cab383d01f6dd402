"""`librarian serve`."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Annotated

import typer

from librarian.cli.browser_link import browser_lines, browser_place, is_loadable
from librarian.cli.greeting import greeting
from librarian.cli.runtime import new_app, report, run_async, say, settings_for
from librarian.cli.server import managed_server
from librarian.errors import InvalidInput, KeysFileError, SettingsError
from librarian.http.app import build_app
from librarian.http.server import Server, listen
from librarian.http.web.session import Sessions, cookie_secret
from librarian.keys import KeyFile, ensure_admin_key
from librarian.problems import caught
from librarian.service import SAMPLE_NAMESPACE, Librarian
from librarian.settings import Settings
from librarian.tracing import traced
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
            base_url = _url(*listening.getsockname()[:2], tls=settings.http.tls_cert is not None)
            keys = KeyFile(settings.keys_file)
            admin_key = _admin_key(settings, keys)
            say(f"Listening on {base_url}; {'the search agent' if agent_only else 'the graph'} starts …")

            async def greet(librarian: Librarian) -> None:
                await _greet(librarian, base_url, admin_key, with_sample=with_sample)

            opening = open_agent(settings, progress=_say_download) if agent_only else _opening(settings, with_sample)
            sessions = None if agent_only else _sessions(settings)
            application = build_app(settings.http, keys, lambda: _greeted(opening, greet), sessions)
            with traced(settings.tracing.endpoint):
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
    if settings.neo4j.uri is None and (place := browser_place(managed_server(settings))) is not None:
        for line in browser_lines(place, base_url, SAMPLE_NAMESPACE, with_pack=is_loadable(base_url)):
            typer.echo(line)


async def _load_sample(librarian: Librarian) -> None:
    """The sample data, searchable by both arms."""
    await librarian.load_sample()
    await librarian.embed_pending()


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


def _sessions(settings: Settings) -> Sessions:
    """The sessions of the web page; in a home that nobody can write to they end with this process."""
    try:
        return Sessions(cookie_secret(settings.cookie_secret_file))
    except SettingsError as error:
        if not settings.has_default("LIBRARIAN_COOKIE_SECRET_FILE"):
            raise
        say(f"warning: {error}; logins to the web page last as long as this process.")
        return Sessions(secrets.token_bytes(32))


def _say_download(total: int, done: int) -> None:
    if done == 0 and total:
        say(f"Downloading {total / 1e6:.0f} MB, once …")


def _url(host: str, port: int, *, tls: bool) -> str:
    scheme = "https" if tls else "http"
    return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"
