"""`librarian keys`: works while the graph is down."""

from datetime import UTC, datetime, timedelta
from typing import Annotated, TypeAlias, cast

import typer

from librarian.cli.display import table
from librarian.cli.options import JsonOption
from librarian.cli.runtime import new_app, print_json, run, say, settings_for
from librarian.cli.values import end_of, span
from librarian.contracts.keys import ApiKey, KeyOut, Scope
from librarian.keys import KeyFile, read_admin_key, renew_admin_key

app = new_app("Make, list, replace and revoke API keys.")

IdArgument: TypeAlias = Annotated[str, typer.Argument(metavar="ID", help="As `librarian keys list` shows it.")]
ExpiresOption: TypeAlias = Annotated[
    str | None,
    typer.Option(metavar="WHEN", help="90 (days), 90d, 12h, or a time; a date ends at its end, UTC. Default: never."),
]

# The least that makes a key useful.
_DEFAULT_SCOPE = "read"


@app.callback()
def keys() -> None:
    """Make, list, replace and revoke API keys."""


@app.command()
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
    """Make a key. It is shown this once and kept nowhere."""

    def work() -> None:
        settings = settings_for()
        entry, secret = KeyFile(settings.keys_file).create(
            name,
            namespaces=[settings.namespace] if namespace is None else _split(namespace),
            scopes=cast("list[Scope]", [_DEFAULT_SCOPE] if scope is None else _split(scope)),
            expires_at=_expiry(expires),
        )
        _show_new(entry, secret, as_json=as_json)

    run(work)


@app.command("list")
def list_keys(*, as_json: JsonOption = False) -> None:
    """List all keys, revoked and expired ones too."""

    def work() -> None:
        found = [KeyOut.of(key) for key in KeyFile(settings_for().keys_file).list()]
        if as_json:
            print_json(found)
        else:
            table(("id", "name", "scopes", "namespaces", "created", "expires", "state"), [_row(key) for key in found])

    run(work)


@app.command()
def revoke(key_id: IdArgument) -> None:
    """Make a key useless, at once and for ever."""

    def work() -> None:
        key = KeyFile(settings_for().keys_file).revoke(key_id)
        say(f"Revoked {key.id} ({key.name}).")

    run(work)


@app.command()
def rotate(
    key_id: IdArgument,
    grace: Annotated[
        str | None, typer.Option(metavar="SPAN", help="How long both are valid: 24h, 7d. Default: not at all.")
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
        rotated = KeyFile(settings.keys_file).rotate(
            key_id,
            grace=timedelta(0) if grace is None else span(grace, "--grace"),
            expires_at=_expiry(expires),
        )
        if renew_admin_key(settings.home, rotated):
            say("This home's command line uses the new key.")
        say(f"The key {rotated.old.id} {_end(rotated.old)}.")
        _show_new(rotated.entry, rotated.secret, as_json=as_json)

    run(work)


@app.command("show-local")
def show_local() -> None:
    """Print this home's admin key, which the first `librarian serve` made."""
    run(lambda: typer.echo(read_admin_key(settings_for().home)))


def _show_new(entry: ApiKey, secret: str, *, as_json: bool) -> None:
    if as_json:
        print_json(KeyOut.of(entry, secret=secret))
        return
    until = f" until {entry.expires_at:%Y-%m-%d %H:%M %Z}" if entry.expires_at else ""
    say(f"Key {entry.id} ({', '.join(entry.scopes)} on {', '.join(entry.namespaces)}{until}); it is not shown again:")
    typer.echo(secret)


def _end(old: ApiKey) -> str:
    return "is useless now" if old.revoked else f"is valid until {old.expires_at:%Y-%m-%d %H:%M %Z}"


def _expiry(given: str | None) -> datetime | None:
    return None if given is None else end_of(given, "--expires", datetime.now(UTC))


def _split(values: list[str]) -> list[str]:
    return [part.strip() for value in values for part in value.split(",") if part.strip()]


def _row(key: KeyOut) -> tuple[object, ...]:
    scopes, namespaces = ", ".join(key.scopes), ", ".join(key.namespaces)
    return (key.id, key.name, scopes, namespaces, key.created_at, key.expires_at, key.state)
