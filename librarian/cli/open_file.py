"""`librarian open`."""

import re
from typing import Annotated

import typer

from librarian.cli.display import printable
from librarian.cli.opening import ask, reached_without_encoder
from librarian.cli.options import JsonOption, NamespaceOption
from librarian.cli.runtime import new_app, say
from librarian.contracts.files import FileSpan, SpanQuery

app = new_app()

_PLACE = re.compile(r"(?P<path>.+?)(?::|#L)(?P<start>[0-9]{1,9})(?:-L?(?P<end>[0-9]{1,9}))?:?", re.DOTALL)


@app.command("open")
def open_file(
    place: Annotated[str, typer.Argument(metavar="PATH[:LINE[-LINE]]", help="A file, a line of it, or lines.")],
    namespace: NamespaceOption = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Print lines of a file as they are stored."""
    path, span = span_of(place)
    ask(
        lambda librarian, where: librarian.open_file(where, path, span),
        namespace,
        _show,
        purpose="open",
        reach=reached_without_encoder,
        as_json=as_json,
    )


def span_of(place: str) -> tuple[str, SpanQuery]:
    """`path`, `path:12` or `path:12-20`, also as `path#L12-L20`."""
    found = _PLACE.fullmatch(place)
    if found is None or int(found["start"]) == 0:
        return place, SpanQuery()
    start = int(found["start"])
    return found["path"], SpanQuery(start=start, end=int(found["end"] or start))


def _show(span: FileSpan) -> None:
    if span.text:
        typer.echo(printable(span.text))
    if span.end < span.lines:
        say(f"Lines {span.start} to {span.end} of {span.lines}.")
