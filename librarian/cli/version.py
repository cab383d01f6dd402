"""`librarian version`."""

from importlib.metadata import version as installed_version

import typer

from librarian.cli.runtime import new_app

app = new_app()


@app.command()
def version() -> None:
    """Print the version."""
    typer.echo(f"librarian {installed_version('librarian')}")
