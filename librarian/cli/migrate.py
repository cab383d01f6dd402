"""`librarian migrate`: works on graphs that no service of this version would open."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Literal, cast

import typer

from librarian.cli.display import downloads, table
from librarian.cli.runtime import new_app, print_json, run_async, say, settings_for
from librarian.contracts.service import MigrationOut
from librarian.wiring import open_migrator
from migrations.plan import Status
from migrations.runner import Migrator

app = new_app("See, check and change the version of the graph's schema.")

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.callback()
def migrate() -> None:
    """See, check and change the version of the graph's schema."""


@app.command()
def status(*, as_json: JsonOption = False) -> None:
    """List every migration and where it stands."""

    async def work() -> None:
        async with _migrator() as migrator:
            found = [_out(one) for one in await migrator.status()]
        if as_json:
            print_json(found)
        else:
            rows = [(one.version, one.name, one.kind, one.state, one.applied_at) for one in found]
            table(("version", "name", "kind", "state", "applied"), rows)

    run_async(work)


@app.command()
def plan() -> None:
    """Print what `apply` would do; changes nothing."""

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


@app.command()
def apply() -> None:
    """Apply what is pending."""

    async def work() -> None:
        async with _migrator() as migrator:
            done = await migrator.apply(lambda migration: say(f"Applying {migration.version} {migration.name} …"))
        say(f"Applied {len(done)} migrations." if done else "Nothing to do.")

    run_async(work)


@app.command()
def validate() -> None:
    """Check that the graph's schema is exactly this version's; exit code 1 where it is not."""

    async def work() -> int:
        async with _migrator() as migrator:
            faults = await migrator.validate()
        for fault in faults:
            typer.echo(fault)
        if not faults:
            say("The schema is this version's.")
        return 1 if faults else 0

    run_async(work)


@app.command()
def repair(
    accept: Annotated[
        str, typer.Option(metavar="VERSION", help="The migration to accept as it stands in its file now.")
    ],
) -> None:
    """Accept an edited or interrupted migration, after you have made sure that the graph is right."""

    async def work() -> None:
        async with _migrator() as migrator:
            accepted = await migrator.repair(accept)
        say(f"Accepted {accepted.version} {accepted.name}.")

    run_async(work)


@asynccontextmanager
async def _migrator() -> AsyncIterator[Migrator]:
    settings = settings_for()
    with downloads() as progress:
        async with open_migrator(settings, purpose="migrate", progress=progress) as migrator:
            yield migrator


def _out(status: Status) -> MigrationOut:
    return MigrationOut(
        version=status.version,
        name=status.name,
        kind=cast("Literal['schema', 'data']", status.kind),
        state=status.state,
        checksum=status.checksum,
        applied_at=None if status.applied_at is None else status.applied_at.isoformat(),
    )
