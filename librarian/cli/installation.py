"""The installation: `config`, `keys`, `doctor`, `openapi`, `version`; all work while the graph is down."""

from datetime import UTC, datetime, timedelta
from importlib.metadata import version as installed_version
from typing import TYPE_CHECKING, Annotated, TypeAlias, cast

import typer

from librarian.base.errors import InvalidInput, NotReady
from librarian.cli.display import show_findings, table
from librarian.cli.lazy import deferred, new_app
from librarian.cli.options import JsonOption
from librarian.cli.runtime import namespace_or, print_answer, print_json, run, run_async, say, settings_for
from librarian.cli.values import end_of, span

if TYPE_CHECKING:
    from graph import driver, executor
    from librarian.base import keys as key_files
    from librarian.base.settings.settings import Settings
    from librarian.cli.doctor_checks import database
    from librarian.cli.doctor_checks import doctor as examination
    from librarian.http import api
    from librarian.http import openapi as described
    from librarian.items import edges
else:
    driver, executor = deferred("graph.driver"), deferred("graph.executor")
    database, examination = (deferred(f"librarian.cli.doctor_checks.{name}") for name in ("database", "doctor"))
    key_files = deferred("librarian.base.keys")
    api, described = deferred("librarian.http.api"), deferred("librarian.http.openapi")
    edges = deferred("librarian.items.edges")

app = new_app()
config = new_app("Show the settings.")
app.add_typer(config, name="config")


@config.command()
def show(*, as_json: JsonOption = False) -> None:
    """Show every setting with its value (secrets masked) and its source."""

    def work() -> None:
        entries = settings_for().entries
        if as_json:
            print_json([{"name": entry.name, "value": entry.value, "source": entry.source} for entry in entries])
        else:
            table(("setting", "value", "source"), [(entry.name, entry.value, entry.source) for entry in entries])

    run(work)


keys = new_app("Create, list, rotate and revoke API keys.")
app.add_typer(keys, name="keys")

IdArgument: TypeAlias = Annotated[str, typer.Argument(metavar="ID", help="As `librarian keys list` shows it.")]
ExpiresOption: TypeAlias = Annotated[
    str | None,
    typer.Option(metavar="WHEN", help="90 (days), 90d, 12h, or a time; a date ends at its end, UTC. Default: never."),
]

# The smallest useful scope.
_DEFAULT_SCOPE = "read"


@keys.command()
def create(
    name: Annotated[str, typer.Argument(help="What the key is for; shown in lists and logs.")],
    namespace: Annotated[
        list[str] | None,
        typer.Option(help="A namespace, app:* or *; may be repeated or have commas. Default: LIBRARIAN_NAMESPACE."),
    ] = None,
    scope: Annotated[
        list[str] | None,
        typer.Option(help="read (default), write, sweep, agent, admin (= all); may be repeated or have commas."),
    ] = None,
    expires: ExpiresOption = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Create a key. It is shown only once and not stored."""

    def work() -> None:
        settings = settings_for()
        entry, secret = key_files.KeyFile(settings.keys_file).create(
            name,
            namespaces=[settings.namespace] if namespace is None else _split(namespace),
            scopes=cast("list[key_files.Scope]", [_DEFAULT_SCOPE] if scope is None else _split(scope)),
            expires_at=_expiry(expires),
        )
        _show_new(entry, secret, as_json=as_json)

    run(work)


@keys.command("list")
def list_keys(*, as_json: JsonOption = False) -> None:
    """List all keys, including revoked and expired ones."""

    def work() -> None:
        found = [key_files.KeyOut.of(key) for key in key_files.KeyFile(settings_for().keys_file).list()]
        if as_json:
            print_json(found)
        else:
            table(("id", "name", "scopes", "namespaces", "created", "expires", "state"), [_row(key) for key in found])

    run(work)


@keys.command()
def revoke(key_id: IdArgument) -> None:
    """Revoke a key permanently, with immediate effect."""

    def work() -> None:
        key = key_files.KeyFile(settings_for().keys_file).revoke(key_id)
        say(f"Revoked {key.id} ({key.name}).")

    run(work)


@keys.command()
def rotate(
    key_id: IdArgument,
    grace: Annotated[
        str | None, typer.Option(metavar="SPAN", help="How long the old key stays valid: 24h, 7d. Default: not at all.")
    ] = None,
    expires: ExpiresOption = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Replace a key by a new one with the same name and rights.

    The new key expires when the old one did, unless --expires says otherwise.
    """

    def work() -> None:
        settings = settings_for()
        rotated = key_files.KeyFile(settings.keys_file).rotate(
            key_id,
            grace=timedelta(0) if grace is None else span(grace, "--grace"),
            expires_at=_expiry(expires),
        )
        if key_files.renew_admin_key(settings.home, rotated):
            say("This home's command line uses the new key.")
        say(f"The key {rotated.old.id} {_end(rotated.old)}.")
        _show_new(rotated.entry, rotated.secret, as_json=as_json)

    run(work)


@keys.command("show-local")
def show_local() -> None:
    """Print this home's admin key, created by the first `librarian serve`."""
    run(lambda: typer.echo(key_files.read_admin_key(settings_for().home)))


def _show_new(entry: "key_files.ApiKey", secret: str, *, as_json: bool) -> None:
    if as_json:
        print_json(key_files.KeyOut.of(entry, secret=secret))
        return
    until = f" until {entry.expires_at:%Y-%m-%d %H:%M %Z}" if entry.expires_at else ""
    say(f"Key {entry.id} ({', '.join(entry.scopes)} on {', '.join(entry.namespaces)}{until}); it is not shown again:")
    typer.echo(secret)


def _end(old: "key_files.ApiKey") -> str:
    return "is useless now" if old.revoked else f"is valid until {old.expires_at:%Y-%m-%d %H:%M %Z}"


def _expiry(option: str | None) -> datetime | None:
    return None if option is None else end_of(option, "--expires", datetime.now(UTC))


def _split(values: list[str]) -> list[str]:
    return [part.strip() for value in values for part in value.split(",") if part.strip()]


def _row(key: "key_files.KeyOut") -> tuple[object, ...]:
    scopes, namespaces = ", ".join(key.scopes), ", ".join(key.namespaces)
    return (key.id, key.name, scopes, namespaces, key.created_at, key.expires_at, key.state)


@app.command("doctor")
def doctor(
    *,
    as_json: JsonOption = False,
    deep: Annotated[bool, typer.Option("--deep", help="Also hash every downloaded file.")] = False,
    adopt_edges: Annotated[
        bool, typer.Option("--adopt-edges", help="Complete typed edges drawn by hand, without any checks.")
    ] = False,
    namespace: Annotated[
        str | None, typer.Option("--namespace", "-n", help="Namespace of the edges to adopt. Default: all.")
    ] = None,
) -> None:
    """Check the installation; starts nothing.

    The exit code is 1 if a check failed.
    """

    async def work() -> int:
        settings = settings_for()
        if adopt_edges:
            return await _adopt(settings, None if namespace is None else namespace_or(namespace, ""), as_json=as_json)
        if namespace is not None:
            raise InvalidInput("it only goes with --adopt-edges", field="--namespace")
        checks = await examination.examine(settings, deep=deep)
        print_answer(checks, show_findings, as_json=as_json)
        return 1 if any(check.status == "failed" for check in checks) else 0

    run_async(work)


async def _adopt(settings: "Settings", namespace: str | None, *, as_json: bool) -> int:
    config = await database.running(settings)
    if isinstance(config, str):
        raise NotReady(config)
    async with driver.open_driver(config) as connected:
        done = await edges.adopt_edges(executor.Executor(connected, database=config.database), namespace)
    if as_json:
        print_json(done)
        return 0
    say(f"Adopted {done.adopted} edges; {done.merged} doubled an edge and were merged into it.")
    for reason in done.left:
        say(f"Left alone: {reason}")
    return 0


@app.command("openapi")
def openapi() -> None:
    """Print the OpenAPI document of the HTTP interface."""
    print_json(described.document(api.DOCUMENTED))


@app.command("version")
def version() -> None:
    """Print the version."""
    typer.echo(f"librarian {installed_version('librarian')}")
