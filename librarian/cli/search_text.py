"""`librarian search-text`."""

import typer

from librarian.cli.display import printable
from librarian.cli.opening import ask, reached_without_encoder
from librarian.cli.options import JsonOption, NamespaceOption
from librarian.cli.runtime import new_app, say
from librarian.cli.structs import takes
from librarian.contracts.files import SearchTextInput, SearchTextOutput
from librarian.usecases.search_text import hit_lines

app = new_app()


@app.command("search-text")
@takes(SearchTextInput)
def search_text(wanted: SearchTextInput, namespace: NamespaceOption = None, *, as_json: JsonOption = False) -> None:
    """Search the lines of files for an exact text."""
    ask(
        lambda librarian, where: librarian.search_text(where, wanted),
        namespace,
        _show,
        purpose="search-text",
        reach=reached_without_encoder,
        contract=SearchTextInput,
        as_json=as_json,
    )


def _show(found: SearchTextOutput) -> None:
    for hit in found.hits:
        for line in hit_lines(hit):
            typer.echo(printable(line))
    if not found.hits:
        say(f"No line matches in namespace {found.namespace!r}.")
    if found.more:
        of = "" if found.total is None else f" of {found.total}"
        say(f"{len(found.hits)}{of} lines; --limit shows more.")
    for note in found.notes:
        say(note)
