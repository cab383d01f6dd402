"""The command line. `main` is the console script; each command's module loads on its first use."""

import os
import sys
from typing import Annotated

import typer

from librarian.cli.doctor_checks.origins import REMEDY, conflicting_distributions
from librarian.cli.lazy import SECTIONS, asks_services, lazy_group
from librarian.cli.runtime import local_option, remote_option

app = typer.Typer(
    cls=lazy_group(SECTIONS),
    name="librarian",
    help="Keeps what an AI agent knows in one knowledge graph and finds the right pieces again.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback()
def _root(
    context: typer.Context,
    url: Annotated[
        str | None,
        typer.Option(
            "--remote", metavar="URL", help="Use this service. Default: LIBRARIAN_REMOTE, or the one of this home."
        ),
    ] = None,
    *,
    local: Annotated[bool, typer.Option("--local", help="Use no service: open the graph itself.")] = False,
) -> None:
    """Record the service, which only some commands can use."""
    if url is not None and local:
        raise typer.BadParameter("it cannot be combined with --remote", param_hint="--local")
    if url is not None and not asks_services(context.invoked_subcommand or ""):
        raise typer.BadParameter(
            f"`{context.invoked_subcommand}` works on this machine only; run it where the service runs.",
            param_hint="--remote",
        )
    remote_option.set(url)
    local_option.set(local)


def main() -> None:
    """Run the command line, unless another distribution's package shadows one of ours."""
    if conflicts := conflicting_distributions():
        typer.echo(f"error: {'; '.join(conflicts)}\n{REMEDY}", err=True)
        sys.exit(os.EX_CONFIG)
    app()
