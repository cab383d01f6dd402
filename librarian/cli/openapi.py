"""`librarian openapi`."""

from librarian.cli.runtime import new_app, print_json
from librarian.http.api import OPERATIONS
from librarian.http.openapi import document

app = new_app()


@app.command()
def openapi() -> None:
    """Print the OpenAPI document of the HTTP interface."""
    print_json(document(OPERATIONS))
