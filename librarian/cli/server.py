"""The database: `librarian server` for the managed Neo4j server of this home, `librarian migrate` for the schema."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer

from librarian.base.errors import SettingsError
from librarian.cli.browser_link import (
    OpeningOption,
    ServiceOption,
    ShowPasswordOption,
    browser_address,
    save_pack,
    service_url,
    show_browser,
)
from librarian.cli.display import downloads, table
from librarian.cli.lazy import deferred, new_app
from librarian.cli.options import JsonOption, NamespaceOption
from librarian.cli.runtime import namespace_or, print_json, run, run_async, say, settings_for
from librarian.runtime.contracts import MigrationOut

if TYPE_CHECKING:
    from graph.local.server import ManagedServer, ServerStatus
    from librarian.base.settings.settings import Settings
    from librarian.runtime import assembly, managed
    from migrations.plan import Status
    from migrations.runner import Migrator
else:
    managed, assembly = deferred("librarian.runtime.managed"), deferred("librarian.runtime.assembly")

app = new_app()
server = new_app("Start, stop and inspect the managed Neo4j server.")
app.add_typer(server, name="server")


@server.command()
def start() -> None:
    """Start the server; it stays up until `librarian server stop`."""

    async def work() -> None:
        neo4j = managed_server(settings_for())
        with downloads() as progress:
            await neo4j.prepare(progress)
        await neo4j.pin()
        endpoint = await neo4j.wait_ready()
        say(f"Neo4j is ready: {endpoint.uri}, Browser {endpoint.http_url}/browser/")

    run_async(work)


@server.command()
def stop() -> None:
    """Stop the server, even if it is in use, and wait until it is down."""

    async def work() -> None:
        stopped = await managed_server(settings_for()).stop()
        say("Neo4j is stopped." if stopped else "Neo4j was not running.")

    run_async(work)


@server.command()
def status(*, as_json: JsonOption = False) -> None:
    """Show the state of the server; starts nothing."""

    def work() -> None:
        found = managed_server(settings_for()).status()
        if as_json:
            print_json(asdict(found))
        else:
            table(("", ""), _status_rows(found))

    run(work)


@server.command()
def logs(lines: Annotated[int, typer.Option("--lines", "-n", min=1, help="Number of last lines.")] = 100) -> None:
    """Print the last lines of the server's log."""
    run(lambda: typer.echo(managed_server(settings_for()).logs(lines)))


@server.command()
def password() -> None:
    """Print the database password of the user neo4j: whoever has it is root over the graph."""
    run(lambda: typer.echo(managed_server(settings_for()).password()))


@server.command()
def browser(
    namespace: NamespaceOption = None,
    service: ServiceOption = None,
    save: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Only write the pack to FOLDER.")] = None,
    *,
    opening: OpeningOption = None,
    show_password: ShowPasswordOption = False,
) -> None:
    """Open Neo4j Browser with the analysts' guide; print its link and how to log in."""

    def work() -> None:
        settings = settings_for()
        guide_service = service or service_url(settings.http)
        where = namespace_or(namespace, settings.namespace)
        if save is not None:
            save_pack(save, guide_service, where)
            return
        address = browser_address(managed_server(settings), "librarian server browser --show-password")
        if address is None:
            say("Neo4j is not running; `librarian server start` starts it.")
            return
        show_browser(address, guide_service, where, show_password=show_password, opening=opening)

    run(work)


def managed_server(settings: "Settings") -> "ManagedServer":
    """Return the managed server of these settings. Raises SettingsError if they name another server."""
    if settings.neo4j.uri is not None:
        raise SettingsError(
            "NEO4J_URI is set, so Librarian uses that server and manages none.",
            field="NEO4J_URI",
            remedy="Unset NEO4J_URI to work with the managed server.",
        )
    return managed.managed_server(settings)


def _status_rows(found: "ServerStatus") -> list[tuple[str, object]]:
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


migrate = new_app("Show, check and upgrade the version of the graph's schema.")
app.add_typer(migrate, name="migrate")


@migrate.command("status")
def list_migrations(*, as_json: JsonOption = False) -> None:
    """List every migration with its state."""

    async def work() -> None:
        async with _migrator() as migrator:
            found = [_out(migration) for migration in await migrator.status()]
        if as_json:
            print_json(found)
        else:
            rows = [(row.version, row.name, row.kind, row.state, row.applied_at) for row in found]
            table(("version", "name", "kind", "state", "applied"), rows)

    run_async(work)


@migrate.command("plan")
def show_plan() -> None:
    """Print the effect of `apply` without changing anything."""

    async def work() -> None:
        async with _migrator() as migrator:
            found = await migrator.plan()
        found.require_runnable()
        for migration in found.runnable:
            typer.echo(
                f"{migration.version} {migration.name} ({migration.kind}): {len(migration.statements)} statements"
            )
        if not found.runnable:
            say("Nothing to do.")

    run_async(work)


@migrate.command()
def apply() -> None:
    """Apply pending migrations."""

    async def work() -> None:
        async with _migrator() as migrator:
            done = await migrator.apply(lambda migration: say(f"Applying {migration.version} {migration.name} …"))
        say(f"Applied {len(done)} migrations." if done else "Nothing to do.")

    run_async(work)


@migrate.command()
def validate() -> None:
    """Check that the graph's schema is exactly this version's; exit code 1 if it is not."""

    async def work() -> int:
        async with _migrator() as migrator:
            faults = await migrator.validate()
        for fault in faults:
            typer.echo(fault)
        if not faults:
            say("The schema is this version's.")
        return 1 if faults else 0

    run_async(work)


@migrate.command()
def repair(
    accept: Annotated[str, typer.Option(metavar="VERSION", help="The migration to accept in its current form.")],
) -> None:
    """Accept an edited or interrupted migration, after you have made sure that the graph is right."""

    async def work() -> None:
        async with _migrator() as migrator:
            accepted = await migrator.repair(accept)
        say(f"Accepted {accepted.version} {accepted.name}.")

    run_async(work)


@asynccontextmanager
async def _migrator() -> "AsyncIterator[Migrator]":
    settings = settings_for()
    with downloads() as progress:
        async with assembly.open_migrator(settings, purpose="migrate", progress=progress) as migrator:
            yield migrator


def _out(status: "Status") -> MigrationOut:
    return MigrationOut(
        version=status.version,
        name=status.name,
        kind=cast("Literal['schema', 'data']", status.kind),
        state=status.state,
        checksum=status.checksum,
        applied_at=None if status.applied_at is None else status.applied_at.isoformat(),
    )
