"""The command line. `main` is the console script; each command's module loads when that command is called."""

import typer

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
def _root() -> None:
    """Make this a group even for the one command that typer would promote otherwise."""


def main() -> None:
    """Run the command line."""
    app()
