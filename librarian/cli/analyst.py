"""`librarian analyst`: a read-only copy of the graph for analysts, on a separate server."""

from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from librarian.cli.browser_link import (
    OpeningOption,
    ServiceOption,
    ShowPasswordOption,
    browser_address,
    service_url,
    show_browser,
)
from librarian.cli.display import Bar, table
from librarian.cli.lazy import deferred, new_app
from librarian.cli.opening import opened
from librarian.cli.options import JsonOption
from librarian.cli.runtime import namespace_or, print_json, run, run_async, say, settings_for

if TYPE_CHECKING:
    from librarian.analyst import server as copies
    from librarian.base.settings.settings import Settings
else:
    copies = deferred("librarian.analyst.server")

app = new_app()
analyst = new_app("Give analysts a read-only copy of the graph, on a separate server.")
app.add_typer(analyst, name="analyst")

_Port = Annotated[
    int | None, typer.Option(min=1, max=65535, help="Default: the previous one, the usual one, or a free one.")
]


@analyst.command()
def start(
    namespace: Annotated[
        str | None, typer.Option("--namespace", "-n", help="Copy only this one. Default: all.")
    ] = None,
    bolt_port: _Port = None,
    http_port: _Port = None,
    service: ServiceOption = None,
    *,
    opening: OpeningOption = None,
    show_password: ShowPasswordOption = False,
) -> None:
    """Copy the graph while it is in use, and serve the copy read-only, replacing an earlier one."""

    async def work() -> None:
        settings = settings_for()
        wanted = None if namespace is None else namespace_or(namespace, settings.namespace)
        analysts = copies.AnalystServer(settings)
        if (before := analysts.status().copy) is not None:
            say(f"There is a copy of {before.scope}, {_age(before.taken_at)} old; a fresh one takes its place.")
        async with opened(settings, "analyst") as librarian:
            with Bar("Copying") as bar:
                done = await analysts.start(
                    librarian, wanted, bolt_port=bolt_port, http_port=http_port, on_progress=bar.update
                )
        _say_copy(done)
        _show(settings, analysts, done, service, show_password=show_password, opening=opening)

    run_async(work)


@analyst.command()
def stop() -> None:
    """Stop the analysts' server; its copy stays on disk until the next start."""

    async def work() -> None:
        stopped = await copies.AnalystServer(settings_for()).stop()
        say("The analysts' server is stopped." if stopped else "The analysts' server was not running.")

    run_async(work)


@analyst.command()
def status(
    service: ServiceOption = None,
    *,
    opening: Annotated[bool, typer.Option("--open", help="Open the link in a web browser.")] = False,
    show_password: ShowPasswordOption = False,
    as_json: JsonOption = False,
) -> None:
    """Show the analysts' server, the age of its copy, and how to log in; starts nothing."""

    def work() -> None:
        settings = settings_for()
        analysts = copies.AnalystServer(settings)
        found = analysts.status()
        if as_json:
            print_json(_described(found))
            return
        table(("", ""), [(name, value) for name, value in _rows(found) if value not in (None, "")])
        _show(settings, analysts, found, service, show_password=show_password, opening=opening)

    run(work)


def _show(
    settings: "Settings",
    analysts: "copies.AnalystServer",
    found: "copies.AnalystStatus",
    service: str | None,
    *,
    show_password: bool,
    opening: bool | None,
) -> None:
    """Print how to log in, if it runs; the guide begins with the namespace of the copy if it has only one."""
    address = browser_address(analysts.server, "librarian analyst status --show-password")
    if address is None:
        return
    namespaces = found.copy.namespaces if found.copy is not None else []
    namespace = namespaces[0] if len(namespaces) == 1 else settings.namespace
    show_browser(
        address, service or service_url(settings.http), namespace, show_password=show_password, opening=opening
    )


def _say_copy(done: "copies.AnalystStatus") -> None:
    if (copy := done.copy) is None:
        return
    say(f"Read-only copy of {copy.scope}: {copy.items} items, as of {copy.taken_at:%Y-%m-%d %H:%M:%S} UTC.")
    if not copy.exact:
        say("Something was changed while it was read; of that it holds the state before or after.")


def _rows(found: "copies.AnalystStatus") -> list[tuple[str, object]]:
    rows: list[tuple[str, object]] = [("phase", found.server.phase)]
    if found.copy is not None:
        taken = found.copy.taken_at
        rows += [
            ("copy of", found.copy.scope),
            ("items", found.copy.items),
            ("taken at", f"{taken:%Y-%m-%d %H:%M:%S} UTC, {_age(taken)} ago"),
            ("exact", "" if found.copy.exact else "no: something was changed while it was read"),
        ]
    else:
        rows += [("copy of", "nothing; `librarian analyst start` makes one")]
    return [
        *rows,
        ("bolt port", found.server.bolt_port),
        ("http port", found.server.http_port),
        ("error", found.server.error),
    ]


def _described(found: "copies.AnalystStatus") -> dict[str, object]:
    age = None if found.copy is None else round((_now() - found.copy.taken_at).total_seconds())
    return {"server": asdict(found.server), "copy": found.copy, "age_s": age}


def _age(taken_at: datetime) -> str:
    """Return the age to the minute, with days if any."""
    minutes = max(_now() - taken_at, timedelta()) // timedelta(minutes=1)
    days, hours = minutes // 1440, minutes // 60 % 24
    if days:
        return f"{days} d {hours} h"
    return f"{hours} h {minutes % 60} min" if hours else f"{minutes} min"


def _now() -> datetime:
    return datetime.now(UTC)
