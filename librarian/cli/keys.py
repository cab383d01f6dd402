"""`librarian keys`: works while the graph is down."""

from datetime import datetime
from typing import Annotated, cast

import typer

from librarian.cli.display import table
from librarian.cli.runtime import new_app, print_json, run, say, settings_for
from librarian.contracts.keys import KeyOut, Scope
from librarian.keys import KeyFile, read_admin_key

app = new_app("Make, list and revoke API keys.")

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.callback()
def keys() -> None:
    """Make, list and revoke API keys."""


@app.command()
def create(
    name: Annotated[str, typer.Argument(help="What the key is for; shown in lists and logs.")],
    namespace: Annotated[list[str], typer.Option(help="A namespace, app:* or *; may be repeated or comma-separated.")],
    scope: Annotated[list[str], typer.Option(help="read, write, sweep, agent, admin (= all); repeated or commas.")],
    expires: Annotated[int | None, typer.Option(metavar="DAYS", help="Days until it expires.")] = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Make a key. It is shown this once and kept nowhere."""

    def work() -> None:
        entry, secret = KeyFile(settings_for().keys_file).create(
            name, namespaces=_split(namespace), scopes=cast("list[Scope]", _split(scope)), expires_days=expires
        )
        if as_json:
            print_json(KeyOut.of(entry, secret=secret))
            return
        say(f"Key {entry.id} ({', '.join(entry.scopes)} on {', '.join(entry.namespaces)}); it is not shown again:")
        typer.echo(secret)

    run(work)


@app.command("list")
def list_keys(*, as_json: JsonOption = False) -> None:
    """List all keys, revoked ones too."""

    def work() -> None:
        found = [KeyOut.of(key) for key in KeyFile(settings_for().keys_file).list()]
        if as_json:
            print_json(found)
        else:
            table(("id", "name", "scopes", "namespaces", "created", "expires", "state"), [_row(key) for key in found])

    run(work)


@app.command()
def revoke(key_id: Annotated[str, typer.Argument(metavar="ID", help="As `librarian keys list` shows it.")]) -> None:
    """Make a key useless, at once and for ever."""

    def work() -> None:
        key = KeyFile(settings_for().keys_file).revoke(key_id)
        say(f"Revoked {key.id} ({key.name}).")

    run(work)


@app.command("show-local")
def show_local() -> None:
    """Print this home's admin key, which the first `librarian serve` made."""
    run(lambda: typer.echo(read_admin_key(settings_for().home)))


def _split(values: list[str]) -> list[str]:
    return [part.strip() for value in values for part in value.split(",") if part.strip()]


def _row(key: KeyOut) -> tuple[object, ...]:
    state = "revoked" if key.revoked else "expired" if _is_over(key.expires_at) else "valid"
    return (key.id, key.name, ", ".join(key.scopes), ", ".join(key.namespaces), key.created_at, key.expires_at, state)


def _is_over(moment: datetime | None) -> bool:
    return moment is not None and moment <= datetime.now(moment.tzinfo)
