"""`librarian server`: the managed Neo4j server of this home."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from graph.local.server import ManagedServer, ServerOptions, ServerStatus
from librarian.cli.browser_link import (
    OpeningOption,
    ServiceOption,
    ShowPasswordOption,
    browser_place,
    save_pack,
    service_url,
    show_browser,
)
from librarian.cli.display import downloads, table
from librarian.cli.options import NamespaceOption
from librarian.cli.runtime import namespace_or, new_app, print_json, run, run_async, say, settings_for
from librarian.errors import SettingsError
from librarian.settings import Settings

app = new_app("Start, stop and look at the managed Neo4j server.")


@app.callback()
def server() -> None:
    """Start, stop and look at the managed Neo4j server."""


@app.command()
def start() -> None:
    """Start the server; it stays up until `librarian server stop`."""

    async def work() -> None:
        managed = managed_server(settings_for())
        with downloads() as progress:
            await managed.prepare(progress)
        await managed.pin()
        endpoint = await managed.wait_ready()
        say(f"Neo4j is ready: {endpoint.uri}, Browser {endpoint.http_url}/browser/")

    run_async(work)


@app.command()
def stop() -> None:
    """Stop the server, whoever uses it, and wait until it is down."""

    async def work() -> None:
        stopped = await managed_server(settings_for()).stop()
        say("Neo4j is stopped." if stopped else "Neo4j was not running.")

    run_async(work)


@app.command()
def status(*, as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Show what is known of the server; starts nothing."""

    def work() -> None:
        found = managed_server(settings_for()).status()
        if as_json:
            print_json(asdict(found))
        else:
            table(("", ""), _described(found))

    run(work)


@app.command()
def logs(lines: Annotated[int, typer.Option("--lines", "-n", min=1, help="How many of the last lines.")] = 100) -> None:
    """Print the last lines of the server's log."""
    run(lambda: typer.echo(managed_server(settings_for()).logs(lines)))


@app.command()
def password() -> None:
    """Print the database password of the user neo4j: whoever has it is root over the graph."""
    run(lambda: typer.echo(managed_server(settings_for()).password()))


@app.command()
def browser(
    namespace: NamespaceOption = None,
    service: ServiceOption = None,
    save: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Write the pack there, and do no more.")] = None,
    *,
    opening: OpeningOption = None,
    show_password: ShowPasswordOption = False,
) -> None:
    """Open Neo4j Browser with the analysts' guide; print its link and how to log in."""

    def work() -> None:
        settings = settings_for()
        asked = service or service_url(settings.http)
        where = namespace_or(namespace, settings.namespace)
        if save is not None:
            save_pack(save, asked, where)
            return
        place = browser_place(managed_server(settings))
        if place is None:
            say("Neo4j is not running; `librarian server start` starts it.")
            return
        show_browser(place, asked, where, show_password=show_password, opening=opening)

    run(work)


def managed_server(settings: Settings) -> ManagedServer:
    """The server of these settings. Raises SettingsError where they name another one."""
    if settings.neo4j.uri is not None:
        raise SettingsError(
            "NEO4J_URI is set, so Librarian uses that server and manages none.",
            field="NEO4J_URI",
            remedy="Unset NEO4J_URI to work with the managed server.",
        )
    options = settings.server
    return ManagedServer(
        settings.home,
        settings.cache,
        ServerOptions(
            heap_mb=options.heap_mb,
            pagecache_mb=options.pagecache_mb,
            java=options.java,
            maven_url=options.maven_url,
        ),
    )


def _described(found: ServerStatus) -> list[tuple[str, object]]:
    users = ", ".join(f"{lease.purpose} (process {lease.pid})" for lease in found.leases)
    rows = [
        ("phase", found.phase),
        ("version", found.version),
        ("process", found.pid),
        ("bolt port", found.bolt_port),
        ("http port", found.http_port),
        ("java", found.java),
        ("kept up by `server start`", "yes" if found.pinned else "no"),
        ("users", users or "none"),
        ("error", found.error),
    ]
    return [(name, value) for name, value in rows if value not in (None, "")]
