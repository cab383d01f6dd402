"""`librarian serve`; with the sample it prints the web page, a search to paste, and the command help."""

import asyncio
import json
import os
import secrets
import shlex
import shutil
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from librarian.base.errors import InvalidInput, KeysFileError, SettingsError
from librarian.cli.lazy import deferred, new_app
from librarian.cli.runtime import report, run_async, say, settings_for

if TYPE_CHECKING:
    import socket

    from uvicorn.loops import auto as loops

    from graph import errors as graph_errors
    from graph.local import home as homes
    from librarian import app as service
    from librarian.app import Librarian
    from librarian.base import keys as key_files
    from librarian.base import problems, tracing
    from librarian.base.settings import local_socket
    from librarian.base.settings.settings import Settings
    from librarian.http import app as http_app
    from librarian.http import server as http_server
    from librarian.http import workers as http_workers
    from librarian.http.web import session as web_session
    from librarian.items import room as items
    from librarian.runtime import managed
else:
    graph_errors, homes = deferred("graph.errors"), deferred("graph.local.home")
    loops = deferred("uvicorn.loops.auto")
    service, items = deferred("librarian.app"), deferred("librarian.items.room")
    key_files, problems, tracing = (deferred(f"librarian.base.{name}") for name in ("keys", "problems", "tracing"))
    local_socket = deferred("librarian.base.settings.local_socket")
    http_app, http_server, http_workers = (deferred(f"librarian.http.{name}") for name in ("app", "server", "workers"))
    web_session = deferred("librarian.http.web.session")
    managed = deferred("librarian.runtime.managed")

app = new_app()

_MAIN = "from librarian.cli import main; main()"
EXAMPLE = "why did the deploy fail?"
_LIMIT = 5
_PURPOSE = "serve"

Opening: TypeAlias = "AbstractAsyncContextManager[Librarian]"
Greet: TypeAlias = "Callable[[Librarian], Awaitable[None]]"


@app.command("serve")
def serve(
    host: Annotated[str | None, typer.Option(help="Default: LIBRARIAN_HOST.")] = None,
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="Default: LIBRARIAN_PORT; 0: any.")] = None,
    *,
    with_sample: Annotated[
        bool,
        typer.Option("--with-sample", help="Load the sample data, print a search to paste, and log warnings only."),
    ] = False,
    agent_only: Annotated[
        bool, typer.Option("--agent-only", help="Only the search agent over PROFESSOR_SEARCH_URL: no database.")
    ] = False,
    worker: Annotated[str | None, typer.Option("--worker", hidden=True)] = None,
) -> None:
    """Serve the HTTP interface until SIGTERM or Ctrl-C.

    It answers /healthz at once and /readyz once the graph is available.
    """
    slot = None if worker is None else http_workers.WorkerSlot.of(worker)
    work = partial(_serve, host, port, with_sample=with_sample, agent_only=agent_only, slot=slot)
    run_async(work, loop_factory=loops.auto_loop_factory())


async def _serve(
    host: str | None, port: int | None, *, with_sample: bool, agent_only: bool, slot: "http_workers.WorkerSlot | None"
) -> int | None:
    if agent_only and with_sample:
        raise InvalidInput("it cannot be combined with --agent-only, which keeps nothing", field="--with-sample")
    settings = settings_for("warning" if with_sample else "info").with_address(host, port)
    keys = key_files.KeyFile(settings.keys_file)
    if slot is not None:
        with slot.socket() as listening:
            await _serve_at(listening, settings, keys, agent_only=agent_only, slot=slot)
        return None
    several = settings.http.workers > 1
    if several and with_sample:
        raise InvalidInput("it requires LIBRARIAN_WORKERS=1", field="--with-sample")
    with http_server.listen(settings.http) as listening:
        if not (agent_only or settings.neo4j.uri):
            homes.make_home(settings.home)  # with an unusable home the service would never become ready
        _make_admin_key(settings, keys)
        url = settings.http.url_at(*listening.getsockname()[:2])
        say(f"Listening on {url}; {'the search agent' if agent_only else 'the graph'} starts …")
        if several:
            return await _serve_by_workers(listening, settings, agent_only=agent_only)
        await _serve_at(listening, settings, keys, with_sample=with_sample, agent_only=agent_only)
    return None


async def _serve_by_workers(listening: "socket.socket", settings: "Settings", *, agent_only: bool) -> int:
    """Serve by worker processes of this command; return the exit code."""
    if not agent_only:
        web_session.cookie_secret(
            settings.cookie_secret_file
        )  # shared by all workers, so created before the first one starts
    also = ["--agent-only"] if agent_only else []
    workers = http_workers.Workers(
        lambda slot: [sys.executable, "-P", "-c", _MAIN, "serve", "--worker", str(slot), *also],
        listening,
        settings.http.workers,
    )
    return await workers.run()


async def _serve_at(
    listening: "socket.socket",
    settings: "Settings",
    keys: "key_files.KeyFile",
    *,
    with_sample: bool = False,
    agent_only: bool,
    slot: "http_workers.WorkerSlot | None" = None,
) -> None:
    base_url = settings.http.url_at(*listening.getsockname()[:2])

    async def greet(librarian: "Librarian") -> None:
        await librarian.ready()
        if not agent_only:
            await _listen_for_commands(server, librarian.settings)
        if slot is None or slot.number == 0:
            _greet(librarian, base_url, keys, with_sample=with_sample)
        if with_sample:
            await _sweep_sample(librarian)

    opening = (
        service.open_agent(settings, progress=_say_download)
        if agent_only
        else _opening(settings, with_sample, await managed.head_start(settings, _PURPOSE, 0, _say_download))
    )
    application = http_app.build_app(
        settings.http,
        keys,
        lambda: _greeted(opening, greet),
        None if agent_only else _sessions(settings),
        settings.oauth,
        None if slot is None else slot.shared_dues(),
    )
    server = http_server.Server(application)
    if slot is not None:
        http_workers.end_with_parent(partial(server.handle_exit, signal.SIGTERM, None))
    with tracing.traced(settings.tracing.endpoint):
        await server.serve(sockets=[listening])


def _opening(settings: "Settings", with_sample: bool, leasing: "asyncio.Task[managed.Leased] | None") -> Opening:
    """Return the service, which connects in the background."""
    return service.open_librarian(
        settings,
        purpose=_PURPOSE,
        linger_s=0,
        wait=False,
        progress=_say_download,
        before_ready=_load_sample if with_sample else None,
        leasing=leasing,
    )


@asynccontextmanager
async def _greeted(opening: Opening, greet: Greet) -> "AsyncIterator[Librarian]":
    """Yield the service with `greet` running beside it."""
    async with opening as librarian:
        greeter = asyncio.create_task(_reported(greet, librarian))
        yield librarian
        greeter.cancel()
        await asyncio.wait([greeter])


async def _reported(greet: Greet, librarian: "Librarian") -> None:
    """Greet; a failure is reported to the operator, and the service keeps answering /readyz with its reason."""
    error = await problems.caught(greet(librarian))
    if error is not None:
        report(error)
        say("The service stays up, but not ready; /readyz says why. Stop it with Ctrl-C.")


async def _listen_for_commands(server: "http_server.Server", settings: "Settings") -> None:
    """Let commands of this home use this service. If that is not possible, they open the graph themselves."""
    path = local_socket.socket_of(settings)
    if path is None:
        return
    try:
        await server.listen_at(path)
    except OSError as error:
        say(f"Commands open the graph themselves, as {path} cannot be made: {error}.")


def _greet(librarian: "Librarian", base_url: str, keys: "key_files.KeyFile", *, with_sample: bool) -> None:
    if not with_sample:
        say(f"Ready on {base_url}.")
        return
    settings = librarian.settings
    home = None if settings.has_default("LIBRARIAN_HOME") else settings.home
    for line in greeting(base_url, _sample_headers(settings, keys), home=home):
        typer.echo(line)


def _sample_headers(settings: "Settings", keys: "key_files.KeyFile") -> list[str]:
    """Return the headers of a request to the sample for curl: in a file, if a key could be created."""
    try:
        return [f"@{key_files.ensure_sample_headers(keys, settings.home, items.SAMPLE_NAMESPACE)}"]
    except KeysFileError:
        return ["Authorization: Bearer <your key>", f"Librarian-Namespace: {items.SAMPLE_NAMESPACE}"]


async def _load_sample(librarian: "Librarian") -> None:
    """Load the sample data, and encode it."""
    await librarian.load_sample()
    await librarian.embed_pending()


async def _sweep_sample(librarian: "Librarian") -> None:
    """Sweep the sample once, after the greeting, so that the first search does not wait for it."""
    with suppress(graph_errors.LeaseHeld):  # another service of this home sweeps it
        await librarian.sweep_sample()


def _make_admin_key(settings: "Settings", keys: "key_files.KeyFile") -> None:
    """Create the local admin key, unless the key file is managed by others and not writable."""
    with suppress(OSError):  # creating the key reports the error
        settings.home.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        key_files.ensure_admin_key(keys, settings.home)
    except KeysFileError as error:
        if not keys.list():
            raise
        say(f"warning: {error}; no local admin key was made.")


def _sessions(settings: "Settings") -> "web_session.Sessions":
    """Return the sessions of the web page; in a read-only home they end with this process."""
    try:
        return web_session.Sessions(web_session.cookie_secret(settings.cookie_secret_file))
    except SettingsError as error:
        if not settings.has_default("LIBRARIAN_COOKIE_SECRET_FILE"):
            raise
        say(f"warning: {error}; logins to the web page last as long as this process.")
        return web_session.Sessions(secrets.token_bytes(32))


def _say_download(total: int, done: int) -> None:
    if done == 0 and total:
        say(f"Downloading {total / 1e6:.0f} MB, once …")


def greeting(base_url: str, headers: Sequence[str], *, home: Path | None) -> Iterator[str]:
    """Yield next steps: the web page, a search with `headers` for curl, and the commands.

    Each command can be pasted into a shell and names `home` if it is not the default.
    """
    command = shlex.quote(own_command())
    if home is not None:
        command = f"LIBRARIAN_HOME={shlex.quote(str(home))} {command}"
    yield f"Librarian is ready. Web page: {base_url}/"
    yield f"Key to log in: {command} keys show-local"
    yield f"Search: {curl_line(base_url, headers, EXAMPLE)}"
    yield f"Commands: {command} --help"


def curl_line(base_url: str, headers: Sequence[str], query: str) -> str:
    """Return one search as a curl command."""
    body = json.dumps({"queries": [query], "limit": _LIMIT}, ensure_ascii=False)
    sent = " ".join(f"-H {shlex.quote(header)}" for header in (*headers, "Content-Type: application/json"))
    return f"curl -sS {base_url}/v1/search {sent} -d {shlex.quote(body)}"


def own_command() -> str:
    """Return the command of this program, with a relative path below the working directory."""
    running = Path(sys.argv[0]).absolute()
    if not os.access(running, os.X_OK):  # started by `python -m` or from another program
        return "librarian"
    here = Path.cwd()
    if running.is_relative_to(here):
        return str(running.relative_to(here))
    return "librarian" if shutil.which("librarian") == str(running) else str(running)
