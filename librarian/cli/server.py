"""`librarian server`: the managed Neo4j server of this home."""

from dataclasses import asdict
from typing import Annotated

import typer

from graph.local.server import ManagedServer, ServerOptions, ServerStatus
from librarian.cli.display import downloads, table
from librarian.cli.runtime import new_app, print_json, run, run_async, say, settings_for
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
def browser() -> None:
    """Print the address of Neo4j Browser and how to log in."""

    def work() -> None:
        found = managed_server(settings_for()).status()
        if found.http_port is None or found.bolt_port is None:
            say("Neo4j is not running; `librarian server start` starts it.")
            return
        for line in browser_lines(found.http_port, found.bolt_port):
            typer.echo(line)

    run(work)


def browser_lines(http_port: int, bolt_port: int) -> tuple[str, str]:
    """Where Neo4j Browser is, and how to log in there."""
    return (
        f"Neo4j Browser: http://127.0.0.1:{http_port}/browser/?dbms=bolt://neo4j@127.0.0.1:{bolt_port}",
        "Log in as neo4j with the password that `librarian server password` prints.",
    )


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
