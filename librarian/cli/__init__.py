"""The command line. `main` is the console script; each command's module loads when that command is called."""

import os
import sys
from typing import Annotated

import typer

from librarian.checks.origins import REMEDY, strangers
from librarian.cli import remote
from librarian.cli.lazy import SECTIONS, lazy_group

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
        typer.Option("--remote", metavar="URL", help="Ask this service. Default: LIBRARIAN_REMOTE, or none."),
    ] = None,
) -> None:
    """Note the service, which only some commands can ask."""
    if url is not None and context.invoked_subcommand not in remote.COMMANDS:
        raise typer.BadParameter(
            f"`{context.invoked_subcommand}` works on this machine only; run it where the service runs.",
            param_hint="--remote",
        )
    remote.given.set(url)


def main() -> None:
    """Run the command line, unless another distribution's package stands in the place of one of ours."""
    if foreign := strangers():
        typer.echo(f"error: {'; '.join(foreign)}\n{REMEDY}", err=True)
        sys.exit(os.EX_CONFIG)
    app()
